"""One rank of the run in test_distributed_training.py: `python distributed_training.py FOLDER HOW MODE`. Rank r writes its weights to FOLDER/HOW_MODE_r.npz.
HOW: `model` (Model under set_auto_parallel_context), `cell` (a training cell) or `own` (the script's own step)."""
import pathlib
import sys

import numpy as np

import sindri as ms
from sindri import nn
from sindri.communication import get_group_size, get_rank, init
from sindri.dataset import transforms, vision
from test_same_training import ResNet20, groups

BATCH, EPOCHS = 2, 2
RATE = 0.05


def rows(folder):
    mean, std = [255 * v for v in (0.4914, 0.4822, 0.4465)], [255 * v for v in (0.2470, 0.2435, 0.2616)]
    data = ms.dataset.Cifar10Dataset(str(folder), usage='train', shuffle=True, num_shards=get_group_size(), shard_id=get_rank())
    data = data.map([vision.Normalize(mean, std), vision.HWC2CHW()], 'image').map(transforms.TypeCast(ms.int32), 'label')
    return data.batch(BATCH, drop_remainder=True)


def train(folder, how):
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True, all_reduce_fusion_config=[20, 40])
    ms.set_seed(3)
    data, net = rows(folder), ResNet20()
    ms.load_param_into_net(net, ms.load_checkpoint(str(folder / 'start.ckpt')), strict_load=True)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
    optimizer = nn.Momentum(groups(net), RATE, 0.9)
    losses = []
    if how == 'model':

        class Note(ms.Callback):
            def on_train_step_end(self, run_context):
                losses.append(run_context.original_args().net_outputs.asnumpy()[()])

        ms.Model(net, loss_fn, optimizer).train(EPOCHS, data, Note(), dataset_sink_mode=False)
    else:
        net.set_train()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train() if how == 'cell' else None
        reduce = nn.DistributedGradReducer(optimizer.parameters)
        gradients = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
        passes = data.create_tuple_iterator(num_epochs=EPOCHS)  # each pass has a different order
        for _ in range(EPOCHS):
            for x, y in passes:
                if step is not None:
                    losses.append(step(x, y).asnumpy()[()])
                    continue
                loss, grads = gradients(x, y)
                optimizer(reduce(grads))
                losses.append(loss.asnumpy()[()])
    found = {p.name: p.asnumpy() for p in net.trainable_params()}
    found.update({p.name: p.asnumpy() for p in optimizer.moments})
    return found, losses


def main(folder, how, mode):
    init()
    ms.set_context(mode=ms.GRAPH_MODE if mode == 'graph' else ms.PYNATIVE_MODE)
    found, losses = train(pathlib.Path(folder), how)
    np.savez(pathlib.Path(folder) / f'{how}_{mode}_{get_rank()}.npz', losses=np.array(losses, np.float32), **found)


if __name__ == '__main__':
    main(*sys.argv[1:])
