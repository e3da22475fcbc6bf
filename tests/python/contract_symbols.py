"""The names that MindSpore scripts use, each with at least one check.

SIGNATURES: the first arguments and their defaults. VALUES: expressions whose results were recorded with MindSpore 2.10.0 (expectations/contract.json,
tests/reference/make_contract_expectations.py). OWN: expressions with their results, for names that 2.10.0 lacks (older or newer releases) or cannot run
on a CPU. NOT_YET: names that raise NotYetError so far. The first word of an entry is the name that it checks, under `mindspore`.

The file is long but not split: an entry is a line of data, looked up by its name. The two programs that read the tables need them whole, and files per
package would only repeat the three tables and their common names.
"""
import numpy as np

# name(arguments)
SIGNATURES = '''
grad(fn, grad_position=0, weights=None, has_aux=False)
value_and_grad(fn, grad_position=0, weights=None, has_aux=False)
COOTensor(indices=None, values=None, shape=None)
CSRTensor(indptr=None, indices=None, values=None, shape=None)
jit(fn=None, input_signature=None, hash_args=None, jit_config=None)
ms_function(fn=None, obj=None, input_signature=None)
lazy_inline(fn=None, attrs=None, policy=None)
common.initializer.initializer(init, shape=None, dtype=float32)
common.initializer.Normal(sigma=0.01, mean=0.0)
common.initializer.XavierUniform(gain=1)
common.initializer.HeUniform(negative_slope=0, mode='fan_in', nonlinearity='leaky_relu')
common.initializer.HeNormal(negative_slope=0, mode='fan_in', nonlinearity='leaky_relu')
common.initializer.Uniform(scale=0.07)
common.initializer.Sparse(sparsity, sigma=0.01)
common.initializer.Dirac(groups=1)
common.initializer.Orthogonal(gain=1.0)
common.initializer.VarianceScaling(scale=1.0, mode='fan_in', distribution='truncated_normal')
communication.init(backend_name=None)
nn.Cell(auto_prefix=True, flags=None)
nn.Conv2d(in_channels, out_channels, kernel_size, stride=1, pad_mode='same', padding=0, dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None)
nn.Dense(in_channels, out_channels, weight_init=None, bias_init=None, has_bias=True, activation=None)
nn.BatchNorm2d(num_features, eps=1e-5, momentum=0.9, affine=True, gamma_init='ones', beta_init='zeros', moving_mean_init='zeros', moving_var_init='ones', use_batch_statistics=None, data_format='NCHW')
nn.LayerNorm(normalized_shape, begin_norm_axis=-1, begin_params_axis=-1, gamma_init='ones', beta_init='zeros', epsilon=1e-7)
nn.Dropout(keep_prob=0.5, p=None)
nn.Embedding(vocab_size, embedding_size, use_one_hot=False, embedding_table='normal', dtype=float32, padding_idx=None)
nn.MaxPool2d(kernel_size=1, stride=1, pad_mode='valid')
nn.AvgPool2d(kernel_size=1, stride=1, pad_mode='valid')
nn.Flatten(start_dim=1, end_dim=-1)
nn.GELU(approximate=True)
nn.Softmax(axis=-1)
nn.LogSoftmax(axis=-1)
nn.OneHot(axis=-1, depth=1, on_value=1.0, off_value=0.0, dtype=float32)
nn.Pad(paddings, mode='CONSTANT')
nn.ClipByNorm(axis=None)
nn.LeakyReLU(alpha=0.2)
nn.get_activation(name, prim_name=None)
nn.SoftmaxCrossEntropyWithLogits(sparse=False, reduction='none')
nn.CrossEntropyLoss(weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0)
nn.MSELoss(reduction='mean')
nn.L1Loss(reduction='mean')
nn.BCEWithLogitsLoss(reduction='mean', weight=None, pos_weight=None)
nn.LossBase(reduction='mean')
nn.Optimizer(learning_rate, parameters, weight_decay=0.0, loss_scale=1.0)
nn.Momentum(params, learning_rate, momentum, weight_decay=0.0, loss_scale=1.0, use_nesterov=False)
nn.SGD(params, learning_rate=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, loss_scale=1.0)
nn.LARS(optimizer, epsilon=1e-5, coefficient=0.001, use_clip=False)
nn.Lamb(params, learning_rate, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0)
nn.AdamWeightDecay(params, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-6, weight_decay=0.0)
nn.thor(net, learning_rate, damping, momentum, weight_decay=0.0, loss_scale=1.0, batch_size=32, use_nesterov=False)
nn.PolynomialDecayLR(learning_rate, end_learning_rate, decay_steps, power, update_decay_steps=False)
nn.WarmUpLR(learning_rate, warmup_steps)
nn.cosine_decay_lr(min_lr, max_lr, total_step, step_per_epoch, decay_epoch)
nn.WithLossCell(backbone, loss_fn)
nn.TrainOneStepCell(network, optimizer, sens=None)
nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense)
nn.DynamicLossScaleUpdateCell(loss_scale_value, scale_factor, scale_window)
nn.FixedLossScaleUpdateCell(loss_scale_value)
nn.DistributedGradReducer(parameters, mean=None, degree=None, fusion_type=1)
nn.PipelineCell(network, micro_size)
nn.MicroBatchInterleaved(network, interleave_num=2)
nn.WithEvalCell(network, loss_fn, add_cast_fp32=False)
ops.GradOperation(get_all=False, get_by_list=False, sens_param=False)
ops.HyperMap(ops=None, reverse=False)
ops.MultitypeFuncGraph(name, read_value=False)
dataset.MnistDataset(dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None)
dataset.Cifar10Dataset(dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None)
dataset.ImageFolderDataset(dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, extensions=None, class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None, decrypt=None)
dataset.GeneratorDataset(source, column_names=None, column_types=None, schema=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None, num_shards=None, shard_id=None, python_multiprocessing=True)
dataset.DistributedSampler(num_shards, shard_id, shuffle=True, num_samples=None, offset=-1)
dataset.DatasetCache(session_id, size=0, spilling=False, hostname=None, port=None, num_connections=None, prefetch_size=None)
dataset.vision.RandomCropDecodeResize(size, scale=(0.08, 1.0), ratio=(3.0/4, 4.0/3))
dataset.vision.Resize(size)
dataset.vision.RandomCrop(size, padding=None, pad_if_needed=False, fill_value=0)
dataset.vision.RandomHorizontalFlip(prob=0.5)
dataset.vision.Rescale(rescale, shift)
dataset.vision.CenterCrop(size)
dataset.vision.SlicePatches(num_height=1, num_width=1)
dataset.transforms.Concatenate(axis=0, prepend=None, append=None)
train.Model(network, loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level='O0', boost_level='O0')
train.Model.train(epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0)
train.Model.eval(valid_dataset, callbacks=None, dataset_sink_mode=False)
train.Model.build(train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1)
train.Model.infer_train_layout(train_dataset, dataset_sink_mode=True, sink_size=-1)
train.DatasetHelper(dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1)
train.LossMonitor(per_print_times=1)
train.TimeMonitor(data_size=None)
train.ModelCheckpoint(prefix='CKP', directory=None, config=None)
train.CheckpointConfig(save_checkpoint_steps=1, save_checkpoint_seconds=0, keep_checkpoint_max=5, keep_checkpoint_per_n_minutes=0, integrated_save=True, async_save=False, saved_network=None, append_info=None, enc_key=None, enc_mode='AES-GCM', exception_save=False)
train.SummaryCollector(summary_dir, collect_freq=10)
train.SummaryRecord(log_dir, file_prefix='events', file_suffix='_MS')
train.OnRequestExit(save_ckpt=True, save_mindir=True, file_name='Net', directory='./', config_file=None, sig=15)
train.Accuracy(eval_type='classification')
train.Precision(eval_type='classification')
train.Recall(eval_type='classification')
train.TopKCategoricalAccuracy(k)
train.ConfusionMatrixMetric(skip_channel=True, metric_name='sensitivity', calculation_method=False, decrease='mean')
save_checkpoint(save_obj, ckpt_file_name, integrated_save=True, async_save=False, append_dict=None, enc_key=None, enc_mode='AES-GCM')
load_checkpoint(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, dec_mode='AES-GCM')
load_param_into_net(net, parameter_dict, strict_load=False)
FixedLossScaleManager(loss_scale=128.0, drop_overflow_update=True)
DynamicLossScaleManager(init_loss_scale=2**24, scale_factor=2, scale_window=2000)
boost.GradientAccumulation(max_accumulation_step, optimizer)
boost.AutoBoost(level='O0', boost_config_dict='')
boost.LessBN(network, fn_flag=False)
boost.GradientFreeze(param_groups, freeze_type, freeze_p, total_steps)
boost.AdaSum(rank, device_number, group_number, parameter_tuple)
boost.DimReduce(network, optimizer, weight, pca_mat_local, n_components, rho, gamma, alpha, sigma, rank, rank_size)
profiler.schedule(*, wait, active, warmup=0, repeat=0, skip_first=0)
profiler.tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False)
profiler.DynamicProfilerMonitor(cfg_path=None, output_path='./dyn_profile_data', poll_interval=2)
'''

# name: expression
VALUES = '''
Tensor: Tensor([[1, 2], [3, 4]])
Tensor: repr(Tensor([1.5, 2], ms.float32)), str(Tensor([7.01546], ms.float32)), repr(Tensor(2, ms.int32))
Tensor: str((Tensor([21.5359993], ms.float32),))
Tensor: Tensor(True), Tensor(1.5), Tensor(np.ones(2)), Tensor([1.9, 2.1], ms.int32)
Tensor: error(lambda: Tensor('text', ms.float32)), error(lambda: bool(Tensor([1, 2])))
Tensor: Tensor([1, 2]) == Tensor([1, 3])
Tensor.from_numpy: shared(Tensor)
Tensor.asnumpy: Tensor([1, 2]).asnumpy().tolist()
Tensor.astype: M23.astype(ms.float16), M23.astype('int32'), M23.astype(np.int64)
Tensor.reshape: M23.reshape(3, 2), M23.reshape((-1,))
Tensor.transpose: M23.transpose(), M23.transpose(1, 0), M23.T
Tensor.expand_dims: M23.expand_dims(1)
Tensor.item: M23.sum().item(), error(lambda: M23.item())
Tensor.shape: M23.shape, M23.dtype, M23.size, M23.ndim
Tensor.sum: M23.sum(), M23.sum(axis=0), M23.mean(), M23.max(), M23.argmax()
Tensor.squeeze: M23.expand_dims(0).squeeze().shape
Tensor.abs: (-M23).abs(), (M23 > 3).all(), (M23 > 3).any(), M23.min()
Tensor.copy: M23.copy()
Tensor.flatten: M23.flatten(), M23.ravel(), M23.view(6)
Tensor.swapaxes: M23.swapaxes(0, 1)
Tensor.broadcast_to: Tensor([1, 2]).broadcast_to((2, 2))
Tensor.clip: M23.clip(1, 3)
Tensor.cumsum: M23.cumsum(axis=1)
Tensor.pow: M23.pow(2)
Tensor.var: M23.var()
ops.select: ops.select(Tensor([True, False]), Tensor([1, 1]), Tensor([2, 2]))
Tensor.trace: Tensor(np.arange(9).reshape(3, 3)).trace(), Tensor(np.arange(9).reshape(3, 3)).diagonal()
Tensor.masked_fill: M23.masked_fill(M23 > 2, 0.0)
Tensor.take: Tensor([5, 6, 7]).take(Tensor([2, 0]))
Tensor.split: [x.asnumpy().tolist() for x in M23.split(1)]
Tensor.nonzero: Tensor([0, 3, 0, 4]).nonzero()
Parameter: str(Parameter(Tensor(np.ones((1, 1)), ms.float32), name='fc.weight'))
Parameter: Parameter(1).dtype, Parameter(1.0).dtype, isinstance(Parameter(1.0), Tensor)
Parameter: error(lambda: Parameter(True)), error(lambda: Parameter('text'))
Parameter.clone: Parameter(Tensor([1.0, 2.0]), name='a').clone(), Parameter(Tensor([1.0, 2.0]), name='a').clone('zeros'), Parameter(Tensor([1.0]), name='a').clone('ones').name
ParameterTuple.clone: [(p.name, p.asnumpy().tolist()) for p in ms.ParameterTuple([Parameter(Tensor([1.0]), name='a')]).clone('moments', init='zeros')]
ParameterTuple: error(lambda: ms.ParameterTuple([1])), len(ms.ParameterTuple([Parameter(1.0, name='a')])), error(lambda: ms.ParameterTuple([Parameter(1.0, name='a'), Parameter(1.0, name='a')]))
Parameter.value: Parameter(Tensor([3.0])).value()
Parameter.requires_grad: Parameter(1.0).requires_grad, Parameter(1.0, requires_grad=False).requires_grad
Parameter.comm_fusion: Parameter(1.0).comm_fusion, Parameter(1.0).layerwise_parallel, Parameter(1.0).parallel_optimizer, Parameter(1.0).sliced
set_seed: error(lambda: ms.set_seed(-1)), error(lambda: ms.set_seed('a')), seeded(ms)
jit: ms.jit(linear)(M23)
common.api.jit: ms.common.api.jit is ms.jit
grad: ms.grad(square)(Tensor([3.0])), ms.grad(product, (0, 1))(Tensor([3.0]), Tensor([5.0]))
value_and_grad: ms.value_and_grad(sum_of_squares)(Tensor([3.0, 4.0])), ms.value_and_grad(with_aux, has_aux=True)(Tensor([3.0]))
COOTensor: ms.COOTensor(Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0], ms.float32), (3, 4)).to_dense()
CSRTensor: ms.CSRTensor(Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32), Tensor([1.0, 2.0], ms.float32), (2, 4)).to_dense()
RowTensor: ms.RowTensor is not None
numpy.zeros: ms.numpy.zeros((2, 3)), ms.numpy.zeros((1,), ms.int32)
bool_: [str(getattr(ms, n)) for n in 'bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16'.split()]
float32: ms.float32 == ms.common.dtype.float32, ms.float32 is ms.float32, str(ms.float32), ms.float16 == ms.float32
half: ms.half == ms.float16, ms.single == ms.float32, ms.double == ms.float64, ms.byte == ms.int8, ms.short == ms.int16, ms.long == ms.int64
string: str(ms.string), ms.number is not None, ms.list_ is not None, ms.tuple_ is not None
type_none: ms.type_none is not None
dtype_to_nptype: [np.dtype(ms.dtype_to_nptype(t)).name for t in (ms.float32, ms.int32, ms.bool_)]
pytype_to_dtype: ms.pytype_to_dtype(np.float32), ms.pytype_to_dtype(int), ms.pytype_to_dtype(bool), error(lambda: ms.pytype_to_dtype(object))
common.initializer.initializer: initializer('ones', [2, 2], ms.float32).init_data(), initializer(3, (2,)).init_data(), error(lambda: initializer('nope', [1])), error(lambda: initializer('ones', [0]))
common.initializer.Normal: spread(initializer(I.Normal(0.5, 2.0), [4000]), 2.0, 0.5), spread(initializer('normal', [4000]), 0.0, 0.01)
common.initializer.XavierUniform: bound(initializer('xavier_uniform', [40, 50]), (6 / 90) ** .5), bound(initializer(I.XavierUniform(2), [40, 50]), 2 * (6 / 90) ** .5)
common.initializer.HeUniform: bound(initializer(I.HeUniform(5 ** .5), [40, 50]), (1 / 50) ** .5), bound(initializer('he_uniform', [40, 50]), (6 / 50) ** .5)
common.initializer.HeNormal: spread(initializer('he_normal', [100, 50]), 0.0, (2 / 50) ** .5)
common.initializer.XavierNormal: spread(initializer('xavier_normal', [100, 50]), 0.0, (2 / 150) ** .5)
common.initializer.One: initializer(I.One(), [2]).init_data(), initializer('one', [2]).init_data(), initializer('ones', [2]).init_data()
common.initializer.Zero: initializer(I.Zero(), [2]).init_data(), initializer('zeros', [2], ms.int32).init_data()
common.initializer.Uniform: bound(initializer(I.Uniform(0.5), [4000]), 0.5)
common.initializer.Constant: initializer(I.Constant(3), [2]).init_data()
common.initializer.Identity: initializer(I.Identity(), [2, 2]).init_data()
common.initializer.Dirac: initializer(I.Dirac(), [2, 2, 3]).init_data()
common.initializer.Orthogonal: orthogonal(initializer(I.Orthogonal(), [3, 5]).init_data().asnumpy())
common.initializer.Sparse: int((initializer(I.Sparse(0.5), [10, 4]).init_data().asnumpy() == 0).sum())
common.initializer.VarianceScaling: spread(initializer(I.VarianceScaling(distribution='untruncated_normal'), [100, 50]), 0.0, (1 / 50) ** .5)
GRAPH_MODE: ms.GRAPH_MODE, ms.PYNATIVE_MODE, ms.context.GRAPH_MODE
set_context: error(lambda: ms.set_context(nope=1)), error(lambda: ms.set_context(mode='x')), error(lambda: ms.set_context(device_target='TPU'))
get_context: ms.get_context('mode'), ms.get_context('device_target'), error(lambda: ms.get_context('nope'))
ParallelMode: [getattr(ms.ParallelMode, n) for n in 'STAND_ALONE DATA_PARALLEL HYBRID_PARALLEL SEMI_AUTO_PARALLEL AUTO_PARALLEL'.split()]
set_auto_parallel_context: error(lambda: ms.set_auto_parallel_context(nope=1)), error(lambda: ms.set_auto_parallel_context(parallel_mode='x')), parallel(ms)
get_auto_parallel_context: [ms.get_auto_parallel_context(n) for n in 'device_num global_rank gradients_mean parallel_mode full_batch pipeline_stages'.split()]
reset_auto_parallel_context: ms.reset_auto_parallel_context()
set_ps_context: error(lambda: ms.set_ps_context(nope=1)), ms.get_ps_context('enable_ps')
communication.GlobalComm: isinstance(ms.communication.GlobalComm.WORLD_COMM_GROUP, str), ms.communication.GlobalComm.INITED
nn.Cell: cell(nn, Parameter, Tensor)
nn.Cell: error(lambda: nn.Cell().nope), error(lambda: nn.Cell()(M23))
nn.Cell.set_train: nn.Cell().training, nn.Cell().set_train().training, nn.Cell().set_train().phase, nn.Cell().set_train(False).phase
nn.Cell.set_grad: nn.Cell().set_grad().requires_grad, nn.Cell().requires_grad
nn.Cell.to_float: dense(nn).to_float(ms.float16)(M23).dtype, error(lambda: dense(nn).to_float(ms.int32))
nn.Cell.add_flags: dense(nn).add_flags(thor=True).thor, nn.SequentialCell(dense(nn)).add_flags_recursive(deep=3)[0].deep
nn.Cell.trainable_params: [p.name for p in two(nn).trainable_params()], [p.name for p in nn.BatchNorm2d(2).trainable_params()], [p.name for p in nn.SequentialCell(nn.BatchNorm2d(2)).untrainable_params()]
nn.Cell.get_parameters: [p.name for p in two(nn).get_parameters()]
nn.Cell.parameters_and_names: [n for n, _ in two(nn).parameters_and_names()]
nn.Cell.cells_and_names: [n for n, _ in two(nn).cells_and_names()]
nn.Cell.parameters_dict: list(two(nn).parameters_dict()), list(two(nn).name_cells()), len(list(two(nn).cells()))
nn.Cell.init_parameters_data: type(dense(nn).init_parameters_data()).__name__
nn.Cell.set_comm_fusion: [p.comm_fusion for p in dense(nn).set_comm_fusion(2).get_parameters()]
nn.Cell.insert_param_to_cell: inserted(nn, Parameter)
nn.Cell.update_parameters_name: prefixed(nn)
nn.Cell.register_forward_hook: hooked(nn, M23)
nn.SequentialCell: nn.SequentialCell(nn.ReLU(), nn.ReLU())(-M23), nn.SequentialCell([nn.ReLU()])[0].cls_name, len(nn.SequentialCell(nn.ReLU(), nn.Tanh())), error(lambda: nn.SequentialCell(3))
nn.CellList: [n for n, _ in nn.CellList([dense(nn), dense(nn)]).parameters_and_names()], len(nn.CellList([nn.ReLU()]).extend([nn.Tanh()])), error(lambda: nn.CellList([3]))
nn.Conv2d: nn.Conv2d(1, 1, 3, stride=2, weight_init='ones')(IMG), nn.Conv2d(1, 1, 3, pad_mode='valid', weight_init='ones')(IMG), nn.Conv2d(1, 2, 3, pad_mode='pad', padding=1, weight_init='ones', has_bias=True, bias_init='ones')(IMG).shape, error(lambda: nn.Conv2d(1, 1, 3, padding=1))
nn.Dense: dense(nn)(M23), [p.name for p in dense(nn).get_parameters()], nn.Dense(3, 2, weight_init='ones', activation='relu')(-M23), nn.Dense(3, 2)(ops.zeros((4, 5, 3), ms.float32)).shape
nn.BatchNorm2d: [(p.name, p.requires_grad) for p in nn.SequentialCell(nn.BatchNorm2d(2)).get_parameters()], moving(nn, ms), error(lambda: nn.BatchNorm2d(0)), error(lambda: nn.BatchNorm2d(2, momentum=2.0))
nn.LayerNorm: nn.LayerNorm((3,))(M23), [p.name for p in nn.LayerNorm((3,)).get_parameters()], error(lambda: nn.LayerNorm(3))
nn.Dropout: nn.Dropout(p=0.5)(M23), kept(nn.Dropout(p=0.75).set_train()(ops.ones((100, 100), ms.float32))), error(lambda: nn.Dropout(p=1.5))
nn.Embedding: nn.Embedding(4, 2, embedding_table='ones')(Tensor([[0, 3]], ms.int32)), nn.Embedding(4, 2, True, 'ones')(Tensor([1], ms.int32)), nn.Embedding(4, 2, padding_idx=1).embedding_table.asnumpy()[1].tolist()
nn.MaxPool2d: nn.MaxPool2d(2, 2)(IMG), nn.MaxPool2d(3, 1, 'same')(IMG), nn.MaxPool2d(2)(IMG).shape
nn.AvgPool2d: nn.AvgPool2d(2, 2)(IMG), nn.AvgPool2d(3, 2, 'same')(IMG)
nn.Flatten: nn.Flatten()(IMG).shape
nn.ReLU: nn.ReLU()(M23 - 2), nn.ReLU6()(M23 * 3), nn.LeakyReLU()(-M23), nn.ELU()(-M23), nn.HSwish()(M23), nn.HSigmoid()(M23), nn.SiLU()(M23), nn.LogSigmoid()(M23), nn.SoftShrink()(M23)
nn.Sigmoid: nn.Sigmoid()(M23)
nn.PReLU: nn.PReLU()(-IMG)
nn.GELU: nn.GELU()(M23), nn.GELU(False)(M23)
nn.Softmax: nn.Softmax()(M23), nn.Softmax(0)(M23)
nn.LogSoftmax: nn.LogSoftmax()(M23)
nn.OneHot: nn.OneHot(depth=3)(Tensor([0, 2], ms.int32))
nn.Pad: nn.Pad(((1, 0), (0, 2)))(M23), nn.Pad(((0, 0), (1, 1)), 'REFLECT')(M23), nn.Pad(((0, 0), (1, 1)), 'SYMMETRIC')(M23)
nn.ClipByNorm: nn.ClipByNorm()(M23, Tensor(1.0, ms.float32))
nn.layer.activation.get_activation: nn.layer.activation.get_activation('relu')(M23 - 2), error(lambda: nn.get_activation('nope')), nn.get_activation(None)
nn.SoftmaxCrossEntropyWithLogits: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(M23, Tensor([2, 0], ms.int32)), nn.SoftmaxCrossEntropyWithLogits(reduction='mean')(M23, ops.one_hot(Tensor([2, 0], ms.int32), 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))), error(lambda: nn.SoftmaxCrossEntropyWithLogits(reduction='x'))
nn.CrossEntropyLoss: nn.CrossEntropyLoss()(M23, Tensor([2, 0], ms.int32)), nn.CrossEntropyLoss(label_smoothing=0.1, reduction='sum')(M23, Tensor([2, 0], ms.int32))
nn.MSELoss: nn.MSELoss()(M23, M23 * 2), nn.MSELoss('none')(M23, M23 * 2)
nn.loss.MSELoss: nn.loss.MSELoss is nn.MSELoss
nn.MAELoss: nn.MAELoss()(M23, M23 * 2)
nn.L1Loss: nn.L1Loss()(M23, M23 * 3), nn.L1Loss('sum')(M23, M23 * 3)
nn.BCEWithLogitsLoss: nn.BCEWithLogitsLoss()(M23, M23 / 6), nn.BCEWithLogitsLoss('sum', pos_weight=Tensor([2.0, 1.0, 1.0]))(M23, M23 / 6)
nn.LossBase: nn.LossBase('sum').get_loss(M23), nn.LossBase().get_loss(M23, 2.0), nn.LossBase('none').get_loss(M23), error(lambda: nn.LossBase('x'))
nn.LossBase.get_axis: nn.LossBase().get_axis(IMG)
nn.Optimizer: [p.name for p in momentum(nn, Parameter).get_parameters()], momentum(nn, Parameter).param_length, momentum(nn, Parameter).is_group, momentum(nn, Parameter).dynamic_lr, error(lambda: nn.SGD([], 0.1)), error(lambda: nn.SGD([Parameter(1.0, name='a')], -0.1))
nn.Optimizer.get_lr: momentum(nn, Parameter).get_lr()
nn.Momentum: stepped(nn.Momentum, Parameter, 0.1, 0.9), stepped(nn.Momentum, Parameter, 0.1, 0.9, weight_decay=0.5), stepped(nn.Momentum, Parameter, 0.1, 0.9, loss_scale=4.0)
nn.SGD: stepped(nn.SGD, Parameter, 0.1), stepped(nn.SGD, Parameter, 0.1, 0.9, 0.0, 0.1), error(lambda: nn.SGD([Parameter(1.0, name='a')], 0.1, nesterov=True))
nn.AdamWeightDecay: stepped(nn.AdamWeightDecay, Parameter, 0.1), stepped(nn.AdamWeightDecay, Parameter, 0.1, weight_decay=0.5)
nn.Adam: stepped(nn.Adam, Parameter, 0.1)
nn.PolynomialDecayLR: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(Tensor(2, ms.int32)), nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True)(Tensor(6, ms.int32)), error(lambda: nn.PolynomialDecayLR(1, 0.01, 4, 0.5))
nn.WarmUpLR: nn.WarmUpLR(0.1, 4)(Tensor(2, ms.int32)), nn.WarmUpLR(0.1, 4)(Tensor(9, ms.int32))
nn.CosineDecayLR: nn.CosineDecayLR(0.01, 0.1, 4)(Tensor(1, ms.int32)), nn.ExponentialDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32)), nn.NaturalExpDecayLR(0.1, 0.9, 4, True)(Tensor(5, ms.int32)), nn.InverseDecayLR(0.1, 0.9, 4)(Tensor(2, ms.int32))
nn.cosine_decay_lr: nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)
nn.piecewise_constant_lr: nn.piecewise_constant_lr([2, 4], [0.1, 0.05]), nn.exponential_decay_lr(0.1, 0.9, 4, 2, 1), nn.natural_exp_decay_lr(0.1, 0.9, 4, 2, 1), nn.inverse_decay_lr(0.1, 0.5, 4, 1, 1), nn.polynomial_decay_lr(0.1, 0.01, 4, 2, 2, 0.5), nn.warmup_lr(0.1, 4, 2, 2)
nn.WithLossCell: nn.WithLossCell(dense(nn), nn.MSELoss())(M23, ops.ones((2, 2), ms.float32)), [p.name for p in nn.WithLossCell(dense(nn), nn.MSELoss()).get_parameters()], nn.WithLossCell(dense(nn), nn.MSELoss()).backbone_network.cls_name
nn.TrainOneStepCell: trained(nn, Tensor, M23)
nn.WithEvalCell: nn.WithEvalCell(dense(nn), nn.MSELoss())(M23, ops.ones((2, 2), ms.float32))
nn.MicroBatchInterleaved: nn.MicroBatchInterleaved(nn.WithLossCell(dense(nn), nn.MSELoss()), 2)(M23, ops.ones((2, 2), ms.float32))
nn.FixedLossScaleUpdateCell: nn.FixedLossScaleUpdateCell(8).get_loss_scale()
nn.DynamicLossScaleUpdateCell.get_loss_scale: nn.DynamicLossScaleUpdateCell(8, 2, 3).get_loss_scale()
nn.wrap.loss_scale._grad_scale: nn.wrap.loss_scale._grad_scale(Tensor(4.0, ms.float32), M23)
ops.Add: ops.Add()(M23, 1.0), P.Add()(M23, M23), ops.Add is P.Add
ops.Sub: ops.Sub()(M23, 1.0)
ops.Mul: ops.Mul()(M23, M23), ops.Mul()(M23, 2)
ops.RealDiv: ops.RealDiv()(M23, 2.0), ops.Div()(M23, 4.0)
ops.tensor_add: ops.tensor_add(M23, M23), F.tensor_mul(M23, M23), F.tensor_sub(M23, M23), F.tensor_div(M23, M23 + 1)
ops.Maximum: ops.Maximum()(M23, 2.0), ops.Minimum()(M23, 2.0)
ops.Equal: ops.Equal()(M23, 2.0), ops.NotEqual()(M23, 2.0), ops.Less()(M23, 2.0), ops.LessEqual()(M23, 2.0), ops.Greater()(M23, 2.0), ops.GreaterEqual()(M23, 2.0)
ops.LogicalOr: ops.LogicalOr()(M23 > 3, M23 < 1), ops.LogicalAnd()(M23 > 1, M23 < 4), ops.LogicalNot()(M23 > 3)
ops.Sqrt: ops.Sqrt()(M23), ops.Square()(M23), ops.Exp()(M23), ops.Log()(M23 + 1), ops.Neg()(M23), ops.Abs()(-M23), ops.Reciprocal()(M23 + 1), ops.Floor()(M23 / 4), ops.Sign()(M23 - 2), ops.Rsqrt()(M23 + 1), ops.Ceil()(M23 / 4), ops.Round()(M23 / 4)
ops.Pow: ops.Pow()(M23, 2.0), ops.pow(M23, 3)
ops.Erf: ops.Erf()(M23), ops.Cos()(M23), ops.Sin()(M23)
ops.ReLU: ops.ReLU()(M23 - 2), ops.relu(M23 - 2)
ops.Softmax: ops.Softmax()(M23), ops.Softmax(axis=0)(M23), ops.LogSoftmax()(M23), ops.Sigmoid()(M23), ops.GeLU()(M23)
ops.AddN: ops.AddN()((M23, M23, M23)), ops.AddN()([M23, M23])
ops.Select: ops.Select()(M23 > 2, M23, -M23)
ops.Cast: ops.Cast()(M23, ms.int32), ops.cast(M23, ms.float16), ops.Cast()(3, ms.float32)
ops.scalar_to_tensor: F.scalar_to_tensor(3), F.scalar_to_tensor(3, ms.int64)
ops.ReduceSum: ops.ReduceSum()(M23), ops.ReduceSum(keep_dims=True)(M23, 1), ops.ReduceMean()(M23, (0, 1)), ops.ReduceMax()(M23, 0), ops.ReduceMin()(M23, 0), ops.ReduceAll()(M23 > 0, 1), ops.ReduceAny()(M23 > 4, 1), ops.ReduceProd()(M23 + 1, 0)
ops.Argmax: ops.Argmax()(M23), ops.Argmax(axis=0, output_type=ms.int32)(M23), ops.Argmin(axis=0)(M23)
ops.ArgMaxWithValue: ops.ArgMaxWithValue(axis=1)(M23), ops.ArgMinWithValue(axis=0, keep_dims=True)(M23)
ops.Shape: ops.Shape()(M23), F.shape(M23), ops.Size()(M23), ops.Rank()(M23)
ops.DType: ops.DType()(M23), F.dtype(M23)
ops.Reshape: ops.Reshape()(M23, (3, 2)), ops.reshape(M23, (-1,))
ops.Transpose: ops.Transpose()(M23, (1, 0)), ops.transpose(M23, (1, 0))
ops.ExpandDims: ops.ExpandDims()(M23, 0).shape, ops.Squeeze(0)(ops.ExpandDims()(M23, 0)).shape
ops.Tile: ops.Tile()(Tensor([1, 2]), (2, 2)), ops.BroadcastTo((2, -1))(Tensor([1, 2]))
ops.Flatten: ops.Flatten()(IMG).shape
ops.Concat: ops.Concat(axis=1)((M23, M23)), ops.concat((M23, M23)), ops.concat([M23, M23], axis=1).shape
ops.Stack: ops.Stack(axis=1)((Tensor([1, 2]), Tensor([3, 4]))), ops.stack([M23, M23]).shape, ops.Unstack(axis=0)(M23)
ops.Split: ops.Split(1, 3)(M23)
ops.Slice: ops.Slice()(M23, (0, 1), (2, 2)), ops.StridedSlice()(M23, (0, 0), (2, 3), (1, 2)), ops.StridedSlice(shrink_axis_mask=1)(M23, (1, 0), (2, 3), (1, 1))
ops.Gather: ops.Gather()(M23, Tensor([2, 0], ms.int32), 1), ops.gather(M23, Tensor([[1]], ms.int32), 0), ops.GatherD()(M23, 1, Tensor([[2], [0]], ms.int32)), ops.GatherNd()(M23, Tensor([[0, 1], [1, 2]], ms.int32))
ops.ScatterAdd: scattered(ops, Parameter, Tensor, ms)
ops.OneHot: ops.OneHot()(Tensor([0, 2, 5], ms.int32), 3, Tensor(1.0, ms.float32), Tensor(-1.0, ms.float32)), ops.one_hot(Tensor([1], ms.int32), 2, Tensor(1, ms.int32), Tensor(0, ms.int32))
ops.Zeros: ops.Zeros()((2,), ms.float32), ops.Ones()((2,), ms.int32), ops.fill(ms.float32, (2,), 3), ops.Fill()(ms.float32, (2,), 3), ops.OnesLike()(M23), ops.ZerosLike()(M23), ops.ones_like(M23), ops.zeros_like(M23)
ops.Eye: ops.Eye()(2, 3, ms.float32), ops.eye(2, 2, ms.int32)
ops.Pad: ops.Pad(((1, 1), (0, 0)))(M23)
ops.MatMul: ops.MatMul(transpose_b=True)(M23, M23), ops.MatMul()(M23, M23.transpose()), ops.BatchMatMul(transpose_a=True)(M23.expand_dims(0), M23.expand_dims(0)), ops.matmul(M23, M23.transpose())
ops.BiasAdd: ops.BiasAdd()(M23, Tensor([1.0, 2.0, 3.0], ms.float32))
ops.Conv2D: ops.Conv2D(1, 3)(IMG, ops.ones((1, 1, 3, 3), ms.float32)), ops.Conv2D(1, (3, 3), pad_mode='same', stride=2)(IMG, ops.ones((1, 1, 3, 3), ms.float32)), ops.Conv2D(1, 3, pad_mode='pad', pad=1, stride=2)(IMG, ops.ones((1, 1, 3, 3), ms.float32))
ops.MaxPool: ops.MaxPool(2, 2)(IMG), ops.AvgPool(2, 2)(IMG), ops.MaxPool(kernel_size=3, strides=2, pad_mode='same')(IMG)
ops.Dropout: kept(ops.Dropout(0.25)(ops.ones((100, 100), ms.float32))[0]), len(ops.Dropout(0.5)(M23))
ops.binary_cross_entropy_with_logits: ops.binary_cross_entropy_with_logits(M23, M23 / 6, ops.ones_like(M23), ops.ones_like(M23)), ops.BCEWithLogitsLoss('sum')(M23, M23 / 6, ops.ones_like(M23), ops.ones_like(M23))
ops.clip_by_value: ops.clip_by_value(M23, 1.0, 3.0), ops.clip_by_value(M23, Tensor(1.0, ms.float32), Tensor(3.0, ms.float32))
ops.clip_by_global_norm: ops.clip_by_global_norm([M23, M23 * 2], 1.0), error(lambda: ops.clip_by_global_norm([M23], 0.0))
ops.ApplyMomentum: apply_momentum(ops, Parameter, Tensor, ms)
ops.SparseSoftmaxCrossEntropyWithLogits: ops.SparseSoftmaxCrossEntropyWithLogits()(M23, Tensor([2, 0], ms.int32))
ops.SoftmaxCrossEntropyWithLogits: ops.SoftmaxCrossEntropyWithLogits()(M23, ops.one_hot(Tensor([2, 0], ms.int32), 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32)))
ops.LayerNorm: ops.LayerNorm()(M23, ops.ones((3,), ms.float32), ops.zeros((3,), ms.float32))[0]
ops.TopK: ops.TopK()(M23, 2), ops.IsFinite()(M23), ops.L2Normalize(axis=1)(M23)
ops.Assign: assigned(ops, Parameter, Tensor, 'Assign'), assigned(ops, Parameter, Tensor, 'AssignAdd'), assigned(ops, Parameter, Tensor, 'AssignSub')
ops.depend: F.depend(M23, 3), ops.Depend()(M23, M23)
ops.partial: ops.Partial()(lambda a, b: a - b, 5)(3), F.partial(lambda a, b: a - b, 5)(3)
ops.identity: ops.Identity()(M23), F.make_range(3), F.make_range(1, 7, 2), F.tuple_len((1, 2))
ops.stop_gradient: ms.grad(half_stopped(ops))(Tensor([3.0])), ops.stop_gradient(M23)
ops.Print: printed(ops, M23)
ops.InsertGradientOf: ops.InsertGradientOf(linear)(M23)
ops.GradOperation: ops.GradOperation()(product)(Tensor([3.0]), Tensor([5.0])), ops.GradOperation(get_all=True)(product)(Tensor([3.0]), Tensor([5.0])), ops.GradOperation(sens_param=True)(square)(Tensor([3.0]), Tensor([7.0])), ops.GradOperation(get_by_list=True)(dense(nn))(M23), ops.GradOperation(get_all=True, get_by_list=True)(dense(nn))(M23), error(lambda: ops.GradOperation(1))
ops.HyperMap: ops.HyperMap()(added(C), (M23, (M23,)), (M23, (M23 * 2,))), ops.HyperMap(added(C))((M23,), (M23,)), ops.Map()(added(C), (M23,), (M23,))
ops.MultitypeFuncGraph: dispatched(C)
ops.Primitive.add_prim_attr: ops.Add().add_prim_attr('fusion', 1).fusion
ops.ReduceOp: ops.ReduceOp.SUM, ops.ReduceOp.MAX, ops.ReduceOp.MIN, ops.ReduceOp.PROD
ops.vmap: ops.vmap(square)(M23)
ops.normal: ops.normal((2000,), Tensor(1.0, ms.float32), Tensor(2.0, ms.float32)).shape
numpy.add: ms.numpy.add(M23, 1), ms.numpy.sqrt(M23), ms.numpy.square(M23), ms.numpy.sum(M23), ms.numpy.where(M23 > 2, M23, 0), [x.shape for x in ms.numpy.split(M23, 3, 1)]
ops.AdaptiveAvgPool2D: nn.AdaptiveAvgPool2d(2)(IMG)
ops.Range: ops.Range()(Tensor(0), Tensor(6), Tensor(2)), ops.arange(0, 6, 2)
dataset.NumpySlicesDataset: rows(numbers(ds)), numbers(ds).get_dataset_size(), numbers(ds).get_col_names()
dataset.GeneratorDataset: rows(ds.GeneratorDataset(lambda: ((np.array(i), np.array(i * i)) for i in range(3)), ['a', 'b'])), rows(ds.GeneratorDataset(source=[(1,), (2,)], column_names=['a'], shuffle=False))
dataset.batch: rows(numbers(ds).batch(2)), rows(numbers(ds).batch(2, drop_remainder=True)), error(lambda: numbers(ds).batch(0))
dataset.map: rows(numbers(ds).map(operations=[lambda x: x + 1], input_columns=['x'])), rows(numbers(ds).map(lambda x: (x, x * 2), ['x'], ['x', 'z']))
dataset.repeat: len(rows(numbers(ds).repeat(2))), numbers(ds).repeat(3).get_dataset_size(), numbers(ds).repeat(3).get_repeat_count()
dataset.shuffle: sorted(r[0] for r in rows(numbers(ds).shuffle(5)))
dataset.project: rows(numbers(ds).project(['y']))
dataset.skip: rows(numbers(ds).skip(3)), rows(numbers(ds).take(1)), rows(numbers(ds).rename('x', 'z')), numbers(ds).rename('x', 'z').get_col_names()
dataset.concat: len(rows(numbers(ds) + numbers(ds))), len(rows(numbers(ds).concat(numbers(ds))))
dataset.filter: rows(numbers(ds).filter(lambda x: x > 2, ['x']))
dataset.split: [d.get_dataset_size() for d in numbers(ds).split([3, 2], randomize=False)]
dataset.zip: rows(ds.zip((numbers(ds).project(['x']), numbers(ds).project(['y'])))) == rows(numbers(ds))
dataset.get_batch_size: numbers(ds).batch(2).get_batch_size(), numbers(ds).batch(2, True).output_shapes(), [str(np.dtype(t)) for t in numbers(ds).output_types()]
dataset.create_dict_iterator: [sorted(r) for r in numbers(ds).create_dict_iterator(num_epochs=1, output_numpy=True)][:1], type(next(numbers(ds).create_dict_iterator())['x']).__name__
dataset.create_tuple_iterator: type(next(numbers(ds).create_tuple_iterator())).__name__, len(list(numbers(ds).create_tuple_iterator(columns=['y'], num_epochs=1, output_numpy=True))[0])
dataset.DistributedSampler: rows(ds.NumpySlicesDataset(np.arange(5), ['x'], sampler=ds.DistributedSampler(2, 1, shuffle=False)))
dataset.SequentialSampler: rows(ds.NumpySlicesDataset(np.arange(5), ['x'], sampler=ds.SequentialSampler(1, 2))), sorted(rows(ds.NumpySlicesDataset(np.arange(5), ['x'], sampler=ds.RandomSampler()))), sorted(rows(ds.NumpySlicesDataset(np.arange(5), ['x'], sampler=ds.SubsetRandomSampler([1, 3]))))
dataset.config.set_seed: config(ds)
dataset.Shuffle: ds.Shuffle.GLOBAL.value, ds.Shuffle.FILES.value, ds.Shuffle.INFILE.value
dataset.bucket_batch_by_length: rows(ds.GeneratorDataset(lambda: ((np.ones(n),) for n in (1, 2, 3, 4)), ['x']).bucket_batch_by_length(['x'], [3], [2, 2], pad_info=None))
dataset.vision.Resize: vision.Resize((2, 2), vision.Inter.NEAREST)(PIC).tolist(), vision.Resize(2)(PIC).shape
dataset.vision.CenterCrop: vision.CenterCrop(2)(PIC).tolist(), vision.CenterCrop(6)(PIC)[0, 0].tolist()
dataset.vision.RandomCrop: vision.RandomCrop(4)(PIC).tolist() == PIC.tolist(), vision.RandomCrop(4, (1, 0, 0, 0))(PIC).shape
dataset.vision.RandomHorizontalFlip: vision.RandomHorizontalFlip(1.0)(PIC)[0, :, 0].tolist(), vision.RandomHorizontalFlip(0.0)(PIC)[0, :, 0].tolist()
dataset.vision.Rescale: vision.Rescale(0.5, 1.0)(PIC)[0, :, 0].tolist()
dataset.vision.Normalize: vision.Normalize([1.0, 2.0, 3.0], [2.0, 2.0, 4.0], True)(PIC)[0, 1].tolist(), error(lambda: vision.Normalize([0.0], [0.0]))
dataset.vision.NormalizePad: vision.NormalizePad([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], is_hwc=True)(PIC).shape
dataset.vision.HWC2CHW: vision.HWC2CHW()(PIC).shape
dataset.vision.Inter: [getattr(vision.Inter, n).value for n in 'NEAREST ANTIALIAS LINEAR BILINEAR CUBIC BICUBIC AREA PILCUBIC'.split()]
dataset.vision.Border: [getattr(vision.Border, n).value for n in 'CONSTANT EDGE REFLECT SYMMETRIC'.split()]
dataset.vision.Pad: vision.Pad(1)(PIC).shape
dataset.vision.ToTensor: vision.ToTensor()(PIC).shape
dataset.vision.SlicePatches: [x.shape for x in vision.SlicePatches(2, 2)(PIC)]
dataset.transforms.TypeCast: transforms.TypeCast(ms.int32)(np.array([1.7])).tolist(), transforms.TypeCast(np.float32)(np.array([1])).dtype.name
dataset.transforms.Compose: transforms.Compose([lambda x: x + 1, lambda x: x * 2])(np.array([1])).tolist()
dataset.transforms.Concatenate: transforms.Concatenate(0, np.array([1.0]), np.array([9.0]))(np.array([2.0])).tolist()
dataset.transforms.Duplicate: [x.tolist() for x in transforms.Duplicate()(np.array([1, 2]))]
dataset.transforms.Fill: transforms.Fill(3)(np.array([1, 2])).tolist()
dataset.transforms.Mask: transforms.Mask(transforms.Relational.GT, 1)(np.array([1, 2])).tolist()
dataset.transforms.PadEnd: transforms.PadEnd([4], 9)(np.array([1, 2])).tolist()
dataset.transforms.Slice: transforms.Slice(slice(1, 3))(np.array([1, 2, 3, 4])).tolist()
dataset.transforms.OneHot: transforms.OneHot(3)(np.array(1)).tolist()
dataset.text.Vocab.from_list: text.Vocab.from_list(['b', 'a'], special_tokens=['<unk>'], special_first=True).vocab()
dataset.text.Vocab.from_dict: text.Vocab.from_dict({'a': 0, 'b': 1}).tokens_to_ids(['b', 'zz']), text.Vocab.from_dict({'a': 0}).ids_to_tokens(0)
dataset.text.Lookup: text.Lookup(text.Vocab.from_list(['a', 'b']), 'b')(np.array(['a', 'zz'])).tolist()
dataset.text.UnicodeCharTokenizer: text.UnicodeCharTokenizer()('héy').tolist()
dataset.text.PythonTokenizer: text.PythonTokenizer(lambda s: s.split())(np.array('a bc')).tolist()
dataset.text.TruncateSequencePair: [x.tolist() for x in text.TruncateSequencePair(4)(np.array([1, 2, 3]), np.array([4, 5, 6]))]
train.Model: error(lambda: T.Model(dense(nn), amp_level='O7')), error(lambda: T.Model(dense(nn), nope=1)), error(lambda: T.Model(dense(nn), metrics={'acc'}))
train.Model.predict: T.Model(dense(nn)).predict(M23)
train.Model.train: fitted(T, nn, ds)
train.Model.eval: evaluated(T, nn, ds)
train.Model.train_network: T.Model(dense(nn)).train_network.cls_name, T.Model(dense(nn)).predict_network.cls_name
train.Callback: error(lambda: T.RunContext(3)), [h for h in dir(T.Callback) if h.startswith('on_')]
train.RunContext: T.RunContext({'a': 1}).original_args()['a'], T.RunContext({}).get_stop_requested(), stopped(T)
train.LossMonitor: error(lambda: T.LossMonitor(-1)), loss_line(T, Tensor)
train.ModelCheckpoint: error(lambda: T.ModelCheckpoint('a/b')), T.ModelCheckpoint('zz').latest_ckpt_file_name
train.CheckpointConfig: T.CheckpointConfig(save_checkpoint_steps=3).save_checkpoint_steps, T.CheckpointConfig().keep_checkpoint_max, error(lambda: T.CheckpointConfig(0, 0, 0, 0)), error(lambda: T.CheckpointConfig(append_info=['x']))
train.CheckpointConfig.get_checkpoint_policy: {k: v for k, v in T.CheckpointConfig(2, 5, 3).get_checkpoint_policy().items() if k != 'saved_network'}
train.LambdaCallback: T.History().history, T.EarlyStopping().patience, T.ReduceLROnPlateau().factor, T.LambdaCallback() is not None
train.Metric: error(lambda: T.Metric())
train.Metric._convert_data: T.Accuracy()._convert_data(M23).tolist(), error(lambda: T.Accuracy()._convert_data('a'))
train.Metric.set_indexes: T.Accuracy().set_indexes([1, 0]).indexes, error(lambda: T.Accuracy().set_indexes(3))
train.Accuracy: float(T.Accuracy()(M23, Tensor([2, 0], ms.int32))), error(lambda: T.Accuracy('x'))
train.Precision: T.Precision()(M23, Tensor([2, 0], ms.int32)).tolist(), T.Recall()(M23, Tensor([2, 0], ms.int32)).tolist()
train.F1: T.F1()(M23, Tensor([2, 0], ms.int32)).tolist(), float(T.Loss()(Tensor(0.5)))
train.Top1CategoricalAccuracy: float(T.Top1CategoricalAccuracy()(M23, Tensor([2, 0], ms.int32))), float(T.TopKCategoricalAccuracy(2)(M23, Tensor([2, 1], ms.int32)))
train.names: T.names()
train.get_metric_fn: type(T.get_metric_fn('precision', eval_type='classification')).__name__, error(lambda: T.get_metric_fn('x'))
save_checkpoint: saved(ms, nn)
load_checkpoint: error(lambda: ms.load_checkpoint('nope.ckpt')), error(lambda: ms.load_checkpoint('nope.txt')), error(lambda: ms.load_checkpoint(3))
load_param_into_net: loaded(ms, nn, Parameter, Tensor)
FixedLossScaleManager: ms.FixedLossScaleManager().get_loss_scale(), ms.FixedLossScaleManager().get_drop_overflow_update(), ms.FixedLossScaleManager(8.0, False).get_update_cell(), error(lambda: ms.FixedLossScaleManager(0))
DynamicLossScaleManager: scaled(ms), error(lambda: ms.DynamicLossScaleManager(0.5)), error(lambda: ms.DynamicLossScaleManager(scale_window=0))
train.DatasetHelper: [len(r) for r in T.DatasetHelper(numbers(ds).batch(2), dataset_sink_mode=False)], error(lambda: T.DatasetHelper(numbers(ds), 3))
train.connect_network_with_dataset: error(lambda: T.connect_network_with_dataset(dense(nn), T.DatasetHelper(numbers(ds), dataset_sink_mode=False)))
train.ConvertModelUtils: hasattr(T.ConvertModelUtils, 'convert_to_thor_model')
set_algo_parameters: error(lambda: ms.set_algo_parameters(nope=1)), error(lambda: ms.set_algo_parameters(fully_use_devices=1))
parallel._auto_parallel_context.auto_parallel_context: split_points(ms)
parallel._utils._get_device_num: PU._get_device_num(), PU._get_parallel_mode(), PU._get_global_rank(), PU._get_gradients_mean()
log.get_level: type(ms.get_level()).__name__, ms.log.get_level() == ms.get_log_config()['GLOG_v']
_checkparam.check_bool: V.check_bool(True), error(lambda: V.check_bool(1, 'a')), V.check_positive_int(3), error(lambda: V.check_positive_int(0)), error(lambda: V.check_positive_int(1.5)), V.check_positive_float(0.5), error(lambda: V.check_non_negative_int(-1)), V.check_is_int(3), error(lambda: V.check_is_float(3, 'a', 'b')), V.twice(3)
_checkparam.check_value_type: V.check_value_type('a', 3, [int], 'P'), error(lambda: V.check_value_type('a', 3, [str], 'P')), error(lambda: V.check_value_type('a', True, int, 'P'))
_checkparam.check_int_range: V.check_int_range(3, 1, 5, V.INC_BOTH), error(lambda: V.check_int_range(5, 1, 5, V.INC_LEFT)), V.check_float_range(0.5, 0.0, 1.0, V.INC_NEITHER), error(lambda: V.check_float_range(1.0, 0.0, 1.0, V.INC_NEITHER, 'a', 'P'))
_checkparam.check_string: V.check_string('a', ['a', 'b']), error(lambda: V.check_string('c', ['a', 'b'], 'x', 'P'))
_checkparam.check_is_number: V.check_is_number(3, int, 'a', 'P'), V.check_is_number(0.5, float), error(lambda: V.check_is_number(True, int)), error(lambda: V.check_is_number(float('nan'), float)), V.check_negative_float(-0.5), error(lambda: V.check_negative_float(0.0)), V.check_non_positive_float(0.0), error(lambda: V.check_non_positive_float(1.0, 'a', 'P')), V.check_number('a', 3, 2, V.GE, 'P'), error(lambda: V.check_number('a', 3, 2, V.LT, 'P')), V.check_number('a', 2.5, 2, V.GT, None)
_checkparam.check_non_negative_int_sequence: V.check_non_negative_int_sequence([0, 1]), error(lambda: V.check_non_negative_int_sequence([0, -1])), V.check_positive_float_sequence((0.5, 1.0)), error(lambda: V.check_positive_float_sequence((0.5, 0.0))), error(lambda: V.check_positive_float_sequence((1,)))
_checkparam.check_element_type_of_iterable: error(lambda: V.check_element_type_of_iterable('a', [1, 'b'], [int], 'P')), error(lambda: V.check_element_type_of_iterable('a', 3, [int])), error(lambda: V.check_element_type_of_dict('a', {'b': 1}, [str], [str])), error(lambda: V.check_element_type_of_dict('a', {1: 1}, [str], [int])), error(lambda: V.check_size_and_element_type_of_tuple('a', (1, 2), 3, int)), error(lambda: V.check_size_and_element_type_of_tuple('a', (1, 'b'), 2, int))
_checkparam.once: V.once(3), V.once((3,)), error(lambda: V.once([3])), error(lambda: V.twice((1, 2, 3))), error(lambda: V.twice(0.5)), error(lambda: V.twice(True)), error(lambda: V.twice((1, 0.5))), V.triple(2), V.once_sequence([4]), V.twice_sequence([1, 2]), V.triple_sequence((1, 2, 3)), error(lambda: V.triple_sequence([1, 2]))
_checkparam.check_axis_valid: V.check_axis_in_range(-1, 3), error(lambda: V.check_axis_in_range(3, 3)), error(lambda: V.check_axis_in_range(0.5, 3)), V.check_axis_valid(None, 3), V.check_axis_valid(-1, 3), V.check_axis_valid([0, -1], 3), error(lambda: V.check_axis_valid((0, -3), 3)), V.check_and_canonicalize_axes(-1, 3), V.check_and_canonicalize_axes((1, -1), 3), error(lambda: V.check_and_canonicalize_axes((1, -2), 3)), V.check_axis_type(1), V.check_axis_type([1, 2]), error(lambda: V.check_axis_type([1, 0.5])), error(lambda: V.check_axis_type(1, False)), error(lambda: V.check_axis_type([1], True, True, False))
_checkparam.check_transpose_axis: V.check_transpose_axis((), 3), V.check_transpose_axis((None,), 2), V.check_transpose_axis(([1, 0],), 2), V.check_transpose_axis((1, 0), 2), V.check_transpose_axis((0,), 1), error(lambda: V.check_transpose_axis((1, 0), 3)), error(lambda: V.check_transpose_axis(('a',), 2)), error(lambda: V.check_transpose_axis((1,), 2)), V.check_swapaxes_axis(-1, 3), V.check_swapaxes_axis((0, -1), 3), error(lambda: V.check_swapaxes_axis('a', 3)), error(lambda: V.check_swapaxes_axis((0, 'a'), 3)), error(lambda: V.check_swapaxes_axis(3, 3))
_checkparam.check_reshape_shp: V.check_reshape_shp((3,)), V.check_reshape_shp(([1, 2],)), V.check_reshape_shp((1, 2)), error(lambda: V.check_reshape_shp((0.5,))), V.check_flatten_order('F'), error(lambda: V.check_flatten_order('A')), error(lambda: V.check_flatten_order(1)), V.prepare_shape_for_squeeze((1, 2, 1), 0), V.prepare_shape_for_squeeze((1, 2, 1), (0, -1)), V.prepare_shape_for_squeeze((1, 2, 1), [0, 0]), error(lambda: V.prepare_shape_for_squeeze((1, 2, 1), 1)), error(lambda: V.prepare_shape_for_squeeze((1, 2, 1), 3)), error(lambda: V.prepare_shape_for_squeeze((1, 2, 1), 'a'))
_checkparam.infer_out_shape: V.infer_out_shape((2, 1), (3,)), V.infer_out_shape((2, 3)), V.infer_out_shape((0, 1), (1, 4)), error(lambda: V.infer_out_shape((2,), (3,))), V.expanded_shape(3, 4, 1), V.tuple_slice((1, 2, 3), 1, None), V.max_(1, 2), V.min_(1, 2)
_checkparam.check_pad_value_by_mode: V.check_pad_value_by_mode('pad', 3, 'P'), V.check_pad_value_by_mode('same', 0, 'P'), error(lambda: V.check_pad_value_by_mode('same', 1, 'P')), V.check_reduce_shape((2, 3), (2,), 1, 'P', 'a', 'b'), error(lambda: V.check_reduce_shape((2, 3), (3,), (1,), 'P', 'a', 'b')), V.check_valid_input('a', 0, 'P'), error(lambda: V.check_valid_input('a', None, 'P')), V.check_input_format('NCHW'), error(lambda: V.check_input_format('NHWC'))
_checkparam.check_astype_dtype: str(V.check_astype_dtype('Float32')), str(V.check_astype_dtype('int')), str(V.check_astype_dtype(ms.float16)), str(V.check_astype_dtype(float)), str(V.check_astype_dtype(ms.bool_)), error(lambda: V.check_astype_dtype('nope')), error(lambda: V.check_astype_dtype(3)), V.check_type_support(ms.float16, 'CPU', (ms.float32,)), V.check_type_support(ms.float16, 'GPU', (ms.float32,)), V.check_type_support(ms.float32, 'CPU', (ms.float32,))
_checkparam.check_types_same_and_valid: V.check_types_same_and_valid({'a': ms.float32, 'b': ms.float32}, (ms.float32,), 'P'), error(lambda: V.check_types_same_and_valid({'a': ms.float32, 'b': ms.int32}, (ms.float32, ms.int32), 'P')), error(lambda: V.check_types_same_and_valid({'a': ms.int8}, (ms.float32, ms.int32), 'P')), V.check_scalar_or_tensor_types_same({'a': ms.float32, 'b': ms.float32}, (ms.float32,), 'P'), error(lambda: V.check_scalar_or_tensor_types_same({'a': ms.float32, 'b': ms.int32}, (ms.float32, ms.int32), 'P', True))
_checkparam.check_input_data: V.check_input_data(Tensor(1), [Tensor(2), (Tensor(3),)], {'a': Tensor(4)}, data_class=Tensor), error(lambda: V.check_input_data(1, data_class=Tensor)), V.check_input_data(1, None, data_class=[int, None]), error(lambda: V.check_input_data(None, data_class=int)), error(lambda: V.check_input_data(np.zeros(0), data_class=np.ndarray)), V.check_input_dataset(1, 2, dataset_type=int), V.check_input_dataset(1, 'a', dataset_type=int), V.check_input_dataset(dataset_type=int), error(lambda: V.check_output_data(None)), V.check_output_data(0), error(lambda: V.check_hook_fn(3)), V.check_hook_fn(len)
_checkparam.check_str_by_regular: V.check_str_by_regular('a_1.b'), error(lambda: V.check_str_by_regular('a-b')), error(lambda: V.check_str_by_regular('')), V.check_str_by_regular('ab', '^a'), V.check_str_and_none_by_regular(''), V.check_str_and_none_by_regular('a-b'), error(lambda: V.check_str_and_none_by_regular('a/b')), V.check_file_name_by_regular('a/b.ckpt'), error(lambda: V.check_file_name_by_regular('a/')), error(lambda: V.check_file_name_by_regular('a b')), error(lambda: V.check_file_name_by_regular(3))
_checkparam.args_type_check: V.args_type_check(int, b=str)(lambda a, b=None: [a, b])(1, 'c'), error(lambda: V.args_type_check(int)(lambda a: a)('x')), error(lambda: V.args_type_check(a=(int, str))(lambda a: a)(0.5)), V.args_type_check(a=int)(lambda a: a)(None)
profiler.schedule: [ms.profiler.schedule(wait=1, active=1, warmup=1, repeat=1)(i).name for i in range(4)]
amp.auto_mixed_precision: ms.amp.auto_mixed_precision(dense(nn), 'O0')(M23), error(lambda: ms.amp.auto_mixed_precision(dense(nn), 'O9'))
amp.StaticLossScaler: ms.amp.StaticLossScaler(8.0).scale(M23), ms.amp.all_finite((M23, M23 / 0.0))
train.build_train_network: type(ms.amp.build_train_network(dense(nn), nn.SGD(dense(nn).trainable_params(), 0.1), nn.MSELoss())).__name__
'''

# name: expression => result
OWN = r'''
Tensor.__init__: Tensor(input_data=[1], dtype=ms.int32), error(lambda: Tensor(init=I.One())) => [['Int32', [1]], 'ValueError']
Parameter.__init__: Parameter(default_input=Tensor([1.0]), name='a', requires_grad=False, layerwise_parallel=False, parallel_optimizer=True).requires_grad, Parameter(1.0).name => [False, 'Parameter']
Parameter.set_data: set_data(Parameter, Tensor, ms) => [[3.0, 4.0], 'p', 'ValueError']
Parameter.name: renamed(Parameter) => ['x', 'ValueError']
common.initializer.TruncatedNormal: spread(initializer(I.TruncatedNormal(0.5), [4000]), 0.0, 0.44), float(abs(initializer('TruncatedNormal', [4000]).init_data().asnumpy()).max()) <= 0.02 => [[True, True], True]
communication.get_rank: error(lambda: ms.communication.get_rank()) => 'RuntimeError'
communication.get_group_size: error(lambda: ms.communication.get_group_size()), error(lambda: ms.communication.get_rank(3)) => ['RuntimeError', 'TypeError']
nn.Cell.extend_repr: str(nn.ReLU()), str(nn.SequentialCell(nn.ReLU())) => ['ReLU<>', 'SequentialCell<\n  (0): ReLU<>\n  >']
nn.Tanh: nn.Tanh()(M23 / 4), ops.Tanh()(M23 / 4) => [['Float32', [[0.0, 0.244919, 0.462117], [0.635149, 0.761594, 0.848284]]], ['Float32', [[0.0, 0.244919, 0.462117], [0.635149, 0.761594, 0.848284]]]]
nn.Momentum: stepped(nn.Momentum, Parameter, 0.1, 0.9, weight_decay=0.5, use_nesterov=True) => [[0.430575, 0.86115], ['moments.p']]
nn.LearningRateSchedule: error(lambda: nn.LearningRateSchedule()(Tensor(1))) => 'NotImplementedError'
nn.PipelineGradReducer: ms.parallel.nn.PipelineGradReducer is nn.PipelineGradReducer => True
ops.MultitypeFuncGraph: error(lambda: overloads_of_number(C)('a')) in ('TypeError', 'ValueError') => True
ops.Im2Col: P.Im2Col(kernel_size=3, pad_mode='same')(IMG).shape => [1, 3, 3, 1, 4, 4]
ops.CholeskyTrsm: P.CholeskyTrsm(split_dim=2)(Tensor(np.diag([4.0, 16.0, 25.0]).astype(np.float32))) => ['Float32', [[[0.5, 0.0], [0.0, 0.25]], [[0.2, 0.0], [0.0, 1.0]]]]
ops.UpdateThorGradient: P.UpdateThorGradient(split_dim=2)(Tensor(np.eye(2, dtype=np.float32)[None] * 2), Tensor(np.ones((2, 2), np.float32)), Tensor(np.eye(2, dtype=np.float32)[None, None] * 3)) => ['Float32', [[6.0, 6.0], [6.0, 6.0]]]
dataset.DistributedSampler: error(lambda: ds.DistributedSampler(2, 2)) => 'ValueError'
dataset.transforms.TypeCast: transforms.TypeCast(output_type=ms.int32)(np.array([1.7])).tolist(), TC.TypeCast(data_type=ms.int32)(np.array([1.7])).tolist() => [[1], [1]]
dataset.text.BertTokenizer: text.BertTokenizer(text.Vocab.from_list(['he', '##llo', 'wor', '[UNK]']))('hello wor zz').tolist() => ['he', '##llo', 'wor', '[UNK]']
train.TimeMonitor: error(lambda: T.TimeMonitor(0)), error(lambda: T.TimeMonitor('a')) => ['ValueError', 'TypeError']
train.LearningRateScheduler: error(lambda: T.LearningRateScheduler(3)) => 'TypeError'
log.get_level: ms.get_level(), ms.get_log_config() => ['2', {'GLOG_v': '2', 'GLOG_logtostderr': '1'}]
set_algo_parameters: algo(ms) => [[True, True], False]
profiler.schedule: error(lambda: ms.profiler.schedule(wait=-1, active=1)) => 'ValueError'
boost.GradientAccumulation: [p.name for p in ms.boost.GradientAccumulation(2, momentum(nn, Parameter)).get_parameters() if 'accumulation' in p.name] => ['grad_accumulation.p', 'accumulation_step']
boost.GradientAccumulation: error(lambda: ms.boost.GradientAccumulation(0, momentum(nn, Parameter))) => 'ValueError'
boost.AutoBoost: [n for n, _ in ms.boost.AutoBoost('O1').algorithms] => ['grad_freeze', 'less_bn']
boost.LessBN: ms.boost.LessBN(dense(nn)).removed => []
boost.GradientFreeze: ms.boost.GradientFreeze(10, 0, 0.7, 100).generate_freeze_index_sequence(10, 0, 0.7, 100)[19:22] => [0, 1, 2]
boost.AdaSum: error(lambda: ms.boost.AdaSum(0, 8, 2, ())) => 'ValueError'
boost.GroupLossScaleManager: ms.boost.GroupLossScaleManager(8, 2).get_loss_scale_status() => [8.0, 8.0]
train.Model.boost: T.Model(dense(nn), boost_level='O1', boost_config_dict={'boost': {'mode': 'auto'}})._boost.level => 'O1'
Tensor.__init__: Tensor(shape=(2, 2), dtype=ms.float32, init=I.One()).init_data() => ['Float32', [[1.0, 1.0], [1.0, 1.0]]]
Tensor.repeat: Tensor([1, 2]).repeat(2).asnumpy().tolist() => [1, 1, 2, 2]
nn.SequentialCell.append: [c.cls_name for c in appended(nn)], [c.cls_name for c in nn.SequentialCell(nn.ReLU(), nn.Tanh())[1:]] => [['ReLU', 'Tanh'], ['Tanh']]
nn.LARS: stepped_lars(nn, Parameter) => [0.95, 1.9]
ops.scalar_cast: F.scalar_cast(3, ms.float32), F.scalar_cast(2.7, ms.int32) => [3.0, 2]
ops.InsertGradientOf: ms.grad(ops.InsertGradientOf(lambda g: g * 10))(Tensor([3.0])) => ['Float32', [10.0]]
ops.FloatStatus: ops.FloatStatus()(M23), ops.FloatStatus()(M23 / 0.0) => [['Float32', [0.0]], ['Float32', [1.0]]]
ops.composite.add_flags: C.add_flags(has_effect=True)(lambda x: x + 1)(3) => 4
dataset.get_next: numbers(ds).create_dict_iterator(output_numpy=True, num_epochs=1).get_next()['x'].tolist() => 0
dataset.use_sampler: rows(sampled(ds)) => [[0], [2], [4]]
dataset.Schema: ds.Schema().add_column('a', ms.int64, [2]) => None
dataset.text.BasicTokenizer: text.BasicTokenizer(True)('Ab, c[CLS]').tolist() => ['ab', ',', 'c', '[CLS]']
ms_function: ms.ms_function(lambda x: x + 1)(M23), ms.common.api.ms_function is ms.ms_function => [['Float32', [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], True]
lazy_inline: lazy(ms, nn)(M23).shape => [2, 2]
set_context: target(ms) => ['Ascend', 'GPU', 'CPU']
set_device: ms.set_device('CPU', 0), error(lambda: ms.set_device('TPU')) => [None, 'ValueError']
set_offload_context: ms.set_offload_context({'offload_param': 'cpu'}) => None
runtime.current_stream: isinstance(ms.runtime.current_stream(), ms.runtime.Stream) => True
runtime.set_memory: ms.runtime.set_memory(max_size='4GB') => None
communication.init: one_rank(ms) => ['hccl_world_group', 0, 1, 0, 1, 0, [0]]
communication.init: error(lambda: ms.communication.init(3)), error(lambda: ms.communication.init('nccl')) => ['TypeError', 'RuntimeError']
communication.management.get_rank: ms.communication.management.get_rank is ms.communication.get_rank => True
communication.create_group: error(lambda: ms.communication.create_group('g', [0])) => 'RuntimeError'
communication.release: ms.communication.release() => None
nn.Dropout: kept(nn.Dropout(0.25).set_train()(ops.ones((100, 100), ms.float32))), error(lambda: nn.Dropout(keep_prob=0.0)) => [[0.25, 4.0], 'ValueError']
nn.Lamb: stepped(nn.Lamb, Parameter, 0.1) => [[0.841886, 1.841886], ['params', 'lamb_m.p', 'lamb_v.p']]
nn.DynamicLossScaleUpdateCell: updated(nn, Parameter, Tensor, ms) => [[4.0, True], [4.0, False], [8.0, False]]
nn.TrainOneStepWithLossScaleCell: loss_scaled(nn, Tensor, ops, ms) => [1.0, False, 8.0, ['Float32', [[0.9, 0.8, 0.7]]]]
nn.TrainOneStepWithLossScaleCell.get_overflow_status: overflow(nn, Tensor, ops, ms) => [True, False]
nn.TrainOneStepWithLossScaleCell.set_sense_scale: sense(nn, Tensor, ms) => 32.0
nn.loss.loss._Loss: issubclass(nn.loss.loss._Loss, nn.LossBase), nn.loss.loss._Loss('sum').get_loss(M23) => [True, ['Float32', 15.0]]
nn.metrics.Accuracy: nn.metrics.Accuracy is T.Accuracy and nn.Accuracy is T.Accuracy => True
nn.optim.momentum.Momentum: nn.optim.momentum.Momentum is nn.Momentum and nn.optim.optimizer.Optimizer is nn.Optimizer and nn.optim.Lamb is nn.Lamb => True
nn.learning_rate_schedule.LearningRateSchedule: nn.learning_rate_schedule.LearningRateSchedule is nn.LearningRateSchedule => True
nn.wrap.grad_reducer.DistributedGradReducer: nn.wrap.grad_reducer.DistributedGradReducer is nn.DistributedGradReducer => True
nn.DistributedGradReducer: nn.DistributedGradReducer([Parameter(Tensor([1.0]), name='a')], True, 1)((M23,))[0] => ['Float32', [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]
nn.PipelineCell: nn.PipelineCell(nn.WithLossCell(dense(nn), nn.MSELoss()), 2)(M23, ops.ones((2, 2), ms.float32)) => ['Float32', 125.0]
nn.GradAccumulationCell: ms.parallel.nn.GradAccumulation is nn.GradAccumulationCell and nn.GradAccumulationCell(nn.WithLossCell(dense(nn), nn.MSELoss()), 2)(M23, ops.ones((2, 2), ms.float32)).shape == () => True
nn.utils.no_init_parameters: lazily(nn) => [2, 3]
nn.Cell.recompute: recomputed(nn, M23) => ['Float32', [[3.0, 3.0], [12.0, 12.0]]]
nn.Cell.shard: dense(nn).shard(((1, 1),))(M23).asnumpy().tolist() == dense(nn)(M23).asnumpy().tolist() => True
nn.Cell.pipeline_stage: isinstance(dense(nn).pipeline_stage, int) => True
nn.Cell.exec_checkpoint_graph: dense(nn).exec_checkpoint_graph() => None
nn.Cell.set_param_ps: error(lambda: dense(nn).set_param_ps()) => 'RuntimeError'
nn.Cell.infer_param_pipeline_stage: [p.name for p in dense(nn).infer_param_pipeline_stage()] => ['weight', 'bias']
nn.Cell.set_boost: dense(nn).set_boost('less_bn').get_flags(), error(lambda: dense(nn).set_boost('no_bn')) => [{'use_less_bn': True}, 'ValueError']
nn.Cell.compile: dense(nn).compile(M23) => None
nn.Cell.bprop: custom_bprop(nn, ms, M23) => ['Float32', [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]]
ops.TensorAdd: ops.TensorAdd()(M23, 1.0), ops.GatherV2 is ops.Gather => [['Float32', [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], True]
ops.scalar_to_array: F.scalar_to_array(3).asnumpy().tolist(), F.tuple_to_array((0, 1, 2)).asnumpy().tolist() => [3, [0, 1, 2]]
ops.functional.tuple_to_array: F.tuple_to_array(F.make_range(3)).asnumpy().tolist() => [0, 1, 2]
ops.Load: ops.Load()(Parameter(Tensor([3.0])), None) if hasattr(ops, 'Load') else P.Load()(Parameter(Tensor([3.0])), None) => ['Float32', [3.0]]
ops.AdamWeightDecay: adam_weight_decay(ops, Parameter, Tensor, ms) => [0.683772, 1.683772]
ops.NPUAllocFloatStatus: error(lambda: ops.NPUAllocFloatStatus()()), error(lambda: ops.NPUGetFloatStatus()(Tensor(np.zeros(8, np.float32)))), error(lambda: ops.NPUClearFloatStatus()(Tensor(np.zeros(8, np.float32)))) => ['RuntimeError', 'RuntimeError', 'RuntimeError']
ops.FusedWeightScaleApplyMomentum: fused_momentum(ops, Parameter, Tensor, ms) => [0.7, 3.0]
ops.AllReduce: ops.AllReduce()(M23), error(lambda: ops.AllReduce('x')) => [['Float32', [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]], 'ValueError']
ops.AllGather: ops.AllGather()(M23).shape, ops.ReduceScatter()(M23).shape, ops.Broadcast(0)((M23,))[0].shape => [[2, 3], [2, 3], [2, 3]]
ops.operations.comm_ops._VirtualDataset: ms.ops.operations.comm_ops._VirtualDataset()(M23)[0] if isinstance(ms.ops.operations.comm_ops._VirtualDataset()(M23), tuple) else ms.ops.operations.comm_ops._VirtualDataset()(M23) => ['Float32', [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]
ops.ScalarSummary: ops.ScalarSummary()('a', Tensor(1.0)), error(lambda: ops.ScalarSummary()(3, Tensor(1.0))), error(lambda: ops.ScalarSummary()('', Tensor(1.0))) => [None, 'TypeError', 'ValueError']
ops.TensorSummary: ops.TensorSummary()('a', M23), ops.HistogramSummary()('a', M23), ops.ImageSummary()('a', IMG), error(lambda: ops.ImageSummary()('a', M23)) => [None, None, None, 'ValueError']
ops.composite.MultitypeFuncGraph.register: overloads(C, Tensor) => ['tensor', 'number', 'bool', 'tuple', 'string', 'number']
ops.constexpr: ops.constexpr(lambda n: n * 2)(3) => 6
dataset.vision.c_transforms.Normalize: VC.Normalize([1.0, 2.0, 3.0], [2.0, 2.0, 4.0])(PIC)[0, 1].tolist() => [1.0, 1.0, 0.5]
dataset.transforms.c_transforms.TypeCast: TC.TypeCast(ms.int32)(np.array([1.7])).tolist() => [1]
dataset.vision.c_transforms.Decode: VC.Decode()(png(ms))[0, 1].tolist() => [200, 0, 0]
dataset.vision.Decode: vision.Decode()(png(ms)).shape => [2, 3, 3]
dataset.vision.RandomCropDecodeResize: vision.RandomCropDecodeResize(4)(png(ms)).shape => [4, 4, 3]
dataset.PaddedDataset: rows(ds.PaddedDataset([{'x': np.array(1)}, {'x': np.array(2)}])) => [[1], [2]]
dataset.DatasetCache: error(lambda: ds.DatasetCache('x')) => 'TypeError'
dataset.config.set_num_parallel_workers: settings(ds) => [3, 5]
dataset.Cifar10Dataset: [error(lambda: make('/nowhere').get_dataset_size()) for make in (ds.Cifar10Dataset, ds.MnistDataset, ds.ImageFolderDataset)], error(lambda: ds.Cifar10Dataset('/', 'x')) => [['ValueError', 'ValueError', 'ValueError'], 'ValueError']
dataset.MnistDataset: mnist(ds) => [[[28, 28, 1], 3, 'uint8']]
train.Model.fit: error(lambda: T.Model(dense(nn)).fit(1, numbers(ds).batch(2), numbers(ds).batch(2))) => 'ValueError'
train.Model.build: T.Model(dense(nn)).build() => None
train.Model.infer_predict_layout: error(lambda: T.Model(dense(nn)).infer_predict_layout(M23)), error(lambda: T.Model(dense(nn)).infer_train_layout(numbers(ds))) => ['RuntimeError', 'RuntimeError']
train.Model._network: [getattr(T.Model(dense(nn)), n) if not hasattr(getattr(T.Model(dense(nn)), n), 'cls_name') else 'cell' for n in '_network _loss_fn _optimizer _train_network _parallel_mode _device_number'.split()] => ['cell', None, None, 'cell', 'stand_alone', 1]
train.callback._set_cur_net: T.callback._set_cur_net(None) => None
train.callback.ModelCheckpoint: T.callback.ModelCheckpoint is T.ModelCheckpoint and T.callback.Callback is T.Callback and T.callback.SummaryCollector is T.SummaryCollector => True
train.model.Model: T.model.Model is T.Model is ms.Model => True
train.serialization.load_checkpoint: T.serialization.load_checkpoint is ms.load_checkpoint is ms.train.load_checkpoint => True
train.loss_scale_manager.FixedLossScaleManager: T.loss_scale_manager.FixedLossScaleManager is ms.FixedLossScaleManager => True
train.summary.SummaryRecord: T.summary.SummaryRecord is T.SummaryRecord => True
train._utils._exec_datagraph: TU._construct_tensor_list([ms.float32], [(2, 3)], 2)[0].shape, TU._to_full_shapes([(2, 3), ()], 4), TU._exec_datagraph(numbers(ds), 5) is not None => [[4, 3], [[8, 3], []], True]
train.train_thor.ConvertModelUtils: T.train_thor.ConvertModelUtils is T.ConvertModelUtils and T.ConvertModelUtils().convert_to_thor_model('m', 'n', optimizer=nn.SGD([Parameter(1.0, name='a')], 0.1), frequency=834) => 'm'
train.DatasetHelper.types_shapes: [list(s) for s in T.DatasetHelper(numbers(ds).batch(2, True), dataset_sink_mode=False).types_shapes()[1]] => [[2], [2]]
export: error(lambda: ms.export(dense(nn), M23, file_name='a', file_format='X')) => 'ValueError'
load: error(lambda: ms.load('a.txt')) => 'ValueError'
boost.AutoBoost: error(lambda: ms.boost.AutoBoost('O9')) => 'ValueError'
boost.BoostTrainOneStepCell: error(lambda: ms.boost.BoostTrainOneStepCell(None, None)) => 'TypeError'
boost.BoostTrainOneStepWithLossScaleCell: error(lambda: ms.boost.BoostTrainOneStepWithLossScaleCell(None, None, None)) => 'TypeError'
log.warning: log_line(ms) => True
_checkparam.Validator: OV.check_positive_int(3, 'a', 'P'), error(lambda: OV.check_value_type('a', 3, [str], 'P')), OV.check_string('a', ['a'], 'x', 'P'), error(lambda: OV.check_float_range(2.0, 0.0, 1.0, Rel.INC_BOTH, 'a', 'P')), OV.check_bool(True, 'a', 'P'), OV.twice(3) => [3, 'TypeError', 'a', 'ValueError', True, [3, 3]]
_checkparam.Rel: [r.name for r in Rel] => ['EQ', 'NE', 'LT', 'LE', 'GT', 'GE', 'INC_NEITHER', 'INC_LEFT', 'INC_RIGHT', 'INC_BOTH', 'IN', 'NOT_IN']
_checkparam.twice: ms._checkparam.twice((1, 2)), ms._checkparam.check_positive_float(0.5, 'a') => [[1, 2], 0.5]
_extends.cell_attr_register: registered(ms, nn) => "{'a': 3, 'b': 4}"
_c_expression.init_exec_dataset: ms._c_expression.init_exec_dataset('q', 1, 2, [], [], [], phase='dataset', need_run=True) => True
parallel._utils._need_to_full: PU._need_to_full(), PU._get_parameter_broadcast(), PU._get_pipeline_stages(), PU._to_full_shapes([(2, 3)], 4) => [False, False, 1, [[8, 3]]]
parallel.shard: ms.parallel.shard(ops.relu, ((1, 1),))(M23 - 2)[0] => ['Float32', [0.0, 0.0, 0.0]]
parallel.Layout: ms.Layout((2, 2), ('dp', 'mp'))('dp', 'None').to_dict()['tensor_map'] => [1, -1]
profiler.Profiler: profiled(ms) => ['op_statistic.csv', 'trace_view.json']
profiler.profile: profile_steps(ms) => [2]
profiler._ExperimentalConfig: ms.profiler._ExperimentalConfig().profiler_level.name, ms.profiler.ProfilerActivity.CPU.name, ms.profiler.AicoreMetrics.AiCoreNone.name => ['Level0', 'CPU', 'AiCoreNone']
mstx.mark: ms.mstx.mark('a') if hasattr(ms, 'mstx') else None, isinstance(ms.profiler.mstx.range_start('a'), int), ms.profiler.mstx.range_end(1) => [None, True, None]
version: isinstance(ms.version.__version__, str), ms.__version__ => [True, '2.10.0']
dtype: ms.dtype is ms.common.dtype => True
nn.thor: type(nn.thor(two(nn), Tensor([0.1]), Tensor([0.1]), 0.9)).__name__, nn.thor(two(nn), 0.1, 0.1, 0.9, frequency=7).get_frequency() => ['THOR', 7]
nn.optim.THOR: nn.optim.THOR(two(nn), Tensor([0.1]), Tensor([0.1]), 0.9).thor => True
train.ConvertNetUtils: T.ConvertNetUtils().convert_to_thor_net(dense(nn)) => None
train.train_thor.ModelThor: isinstance(T.train_thor.ModelThor(dense(nn)), T.Model) => True
'''

# name: text that raises NotYetError
NOT_YET = '''
nn.LSTM: nn.LSTM(3, 4)
nn.transformer.Transformer: nn.transformer.Transformer(hidden_size=4, batch_size=1, ffn_hidden_size=4, src_seq_length=2, tgt_seq_length=2)
nn.transformer.AttentionMask: nn.transformer.AttentionMask(2)
nn.transformer.VocabEmbedding: nn.transformer.VocabEmbedding(4, 2)
nn.transformer.CrossEntropyLoss: nn.transformer.CrossEntropyLoss()
nn.transformer.TransformerOpParallelConfig: nn.transformer.TransformerOpParallelConfig()
nn.GraphCell: nn.GraphCell(None)
nn.GetNextSingleOp: nn.GetNextSingleOp([], [], 'q')
dataset.MindDataset: ds.MindDataset('a.mindrecord')
dataset.TFRecordDataset: ds.TFRecordDataset('a.tfrecord')
dataset.CLUEDataset: ds.CLUEDataset('a.json')
mindrecord.FileWriter: ms.mindrecord.FileWriter('a')
mindrecord.FileReader: ms.mindrecord.FileReader('a')
mindrecord.MindPage: ms.mindrecord.MindPage('a')
export: ms.export(dense(nn), M23, file_name='a', file_format='MINDIR')
load: ms.load('a.mindir')
load_distributed_checkpoint: ms.load_distributed_checkpoint(dense(nn), ['a.ckpt'])
transform_checkpoints: ms.transform_checkpoints('a', 'b', 'c')
transform_checkpoint_by_rank: ms.transform_checkpoint_by_rank(0, {}, 'a')
rank_list_for_transform: ms.rank_list_for_transform(0)
merge_pipeline_strategys: ms.merge_pipeline_strategys('a', 'b')
sync_pipeline_shared_parameters: ms.sync_pipeline_shared_parameters(dense(nn))
obfuscate_model: ms.obfuscate_model({})
parallel.auto_parallel.AutoParallel: ms.parallel.auto_parallel.AutoParallel(dense(nn))
'''


def entries(text):
    """Yields (name, rest) for the lines of one of the tables above."""
    return [tuple(part.strip() for part in line.split(': ', 1)) for line in text.strip().splitlines()]


# --- helpers for the expressions; they use MindSpore's names only --------------------------------------------------------------------------------

def plain(value):
    """Returns a value as JSON: tensors with their type, numbers to six digits."""
    if type(value).__name__ in ('Tensor', 'Parameter', 'StubTensor'):
        return [str(value.dtype), plain(value.asnumpy())]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f'{value:.6g}')
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def error(call):
    """Returns the name of the builtin class of the exception that a call raises."""
    try:
        call()
    except Exception as e:
        for kind in (KeyError, IndexError, AttributeError, NotImplementedError, TypeError, ValueError, RuntimeError, OSError):
            if isinstance(e, kind):
                return kind.__name__
        return type(e).__name__
    return 'nothing'


def namespace(ms):
    """Returns the namespace of the expressions."""
    import importlib
    name = ms.__name__
    load = importlib.import_module
    spaces = dict(ms=ms, np=np, Tensor=ms.Tensor, Parameter=ms.Parameter, error=error)
    for short, path in dict(nn='nn', ops='ops', P='ops.operations', F='ops.functional', C='ops.composite', ds='dataset', T='train', I='common.initializer',
                            vision='dataset.vision', transforms='dataset.transforms', text='dataset.text', V='_checkparam', PU='parallel._utils',
                            TU='train._utils').items():
        spaces[short] = load(f'{name}.{path}')
    for path in ('numpy', 'amp', 'boost', 'communication', 'parallel', 'parallel.nn', 'profiler', 'runtime', 'mindrecord', 'log', 'version', 'common.api',
                 'nn.wrap.loss_scale', 'nn.layer.activation', 'parallel._auto_parallel_context', 'train.callback', 'parallel.auto_parallel'):
        load(f'{name}.{path}')
    for short, path in dict(VC='dataset.vision.c_transforms', TC='dataset.transforms.c_transforms', OV='_checkparam', Rel='_checkparam').items():
        try:
            module = load(f'{name}.{path}')
            spaces[short] = {'OV': getattr(module, 'Validator', None), 'Rel': getattr(module, 'Rel', None)}.get(short, module)
        except ImportError:
            pass  # removed in 2.x; OWN has them
    for path in ('_extends', '_c_expression', 'nn.metrics', 'nn.transformer', 'nn.loss.loss', 'train.train_thor', 'train.train_thor.model_thor', 'mstx'):
        try:
            load(f'{name}.{path}')
        except ImportError:
            pass
    spaces['initializer'] = spaces['I'].initializer
    spaces['M23'] = ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    spaces['IMG'] = ms.Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    spaces['PIC'] = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    for key, value in globals().items():
        if callable(value) and not key.startswith('_'):
            spaces.setdefault(key, value)
    return spaces


def linear(x):
    return x * 2 + 1


def square(x):
    return x * x


def product(x, y):
    return x * y


def sum_of_squares(x):
    return (x * x).sum()


def with_aux(x):
    return x.sum(), x * 7


def half_stopped(ops):
    def f(x):
        return x * ops.stop_gradient(x)
    return f


def added(C):
    graph = C.MultitypeFuncGraph('added')

    @graph.register('Tensor', 'Tensor')
    def add(x, y):
        return x + y
    return graph


def sampled(ds):
    data = ds.NumpySlicesDataset(np.arange(5), ['x'], shuffle=False)
    data.use_sampler(ds.DistributedSampler(2, 0, shuffle=False))
    return data


def dense(nn):
    return nn.Dense(3, 2, weight_init='ones', bias_init='zeros')


def two(nn):
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.layer = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())

        def construct(self, x):
            return self.layer(x)
    return Two()


def shared(Tensor):
    a = np.zeros(2, np.float32)
    t = Tensor.from_numpy(a)
    a[0] = 5
    return t.asnumpy().tolist(), error(lambda: Tensor.from_numpy([1]))


def set_data(Parameter, Tensor, ms):
    p = Parameter(Tensor([1.0, 2.0]), name='p')
    p.set_data(Tensor([3.0, 4.0]))
    return p.asnumpy().tolist(), p.name, error(lambda: p.set_data(Tensor([1.0])))


def renamed(Parameter):
    p = Parameter(1.0)
    p.name = 'x'
    return p.name, error(lambda: Parameter(1.0, name=''))


def seeded(ms):
    out = []
    for _ in range(2):
        ms.set_seed(3)
        out.append(ms.common.initializer.initializer('normal', [4]).init_data().asnumpy().tolist())
    return out[0] == out[1]


def spread(t, mean, std):
    a = t.init_data().asnumpy()
    return bool(abs(a.mean() - mean) < 0.2 * std + 1e-9), bool(abs(a.std() - std) < 0.06 * std)


def bound(t, limit):
    a = t.init_data().asnumpy()
    return bool(abs(a).max() <= limit * (1 + 1e-6)), bool(abs(a).max() > 0.95 * limit)


def orthogonal(a):
    return bool(np.allclose(a @ a.T, np.eye(3), atol=1e-5))


def parallel(ms):
    ms.set_auto_parallel_context(gradients_mean=True, parallel_mode='data_parallel')
    found = ms.get_auto_parallel_context('gradients_mean'), ms.get_auto_parallel_context('parallel_mode')
    ms.reset_auto_parallel_context()
    return found, ms.get_auto_parallel_context('parallel_mode')


def cell(nn, Parameter, Tensor):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0]))
            self.inner = nn.Dense(3, 2)

        def construct(self, x):
            return self.inner(x)
    net = Net()

    def none():
        net.inner = 3
    return [p.name for p in net.get_parameters()], net.cls_name, net.training, error(none)


def inserted(nn, Parameter):
    c = nn.Cell()
    c.insert_param_to_cell('p', Parameter(1.0, name='q'))
    c.insert_child_to_cell('d', nn.ReLU())
    return [p.name for p in c.get_parameters()], list(c.name_cells()), error(lambda: c.insert_param_to_cell('a.b', Parameter(1.0)))


def prefixed(nn):
    net = nn.Dense(3, 2)
    net.update_parameters_name('pre.')
    return [p.name for p in net.get_parameters()]


def hooked(nn, x):
    seen = []
    net = nn.ReLU()
    handle = net.register_forward_hook(lambda cell, inputs, output: seen.append(tuple(output.shape)))
    net(x)
    handle.remove()
    net(x)
    return seen


def appended(nn):
    seq = nn.SequentialCell(nn.ReLU())
    seq.append(nn.Tanh())
    seq.insert(0, nn.Sigmoid())
    del seq[0]
    return seq


def moving(nn, ms):
    bn = nn.BatchNorm2d(1, momentum=0.75)
    bn.set_train()
    bn(ms.Tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2)))
    return bn.moving_mean.asnumpy().tolist()


def kept(t):
    """Returns the share of nonzero values, rounded to a multiple of 0.05, and the largest value."""
    a = t.asnumpy()
    return [round(float((a != 0).mean()) * 20) / 20, float(a.max())]


def momentum(nn, Parameter):
    return nn.Momentum([Parameter(np.array([1.0, 2.0], np.float32), name='p')] if isinstance(Parameter, str) else [_parameter(Parameter)], 0.1, 0.9)


def _parameter(Parameter):
    return Parameter(_tensor(Parameter, [1.0, 2.0]), name='p')


def _tensor(Parameter, values):
    import importlib
    root = 'sindri' if Parameter.__module__.startswith('sindri') else 'mindspore'
    return importlib.import_module(root).Tensor(np.array(values, np.float32))


def stepped(make, Parameter, *args, **kwargs):
    """Runs two steps with gradients (1, 2) and (0.5, 1). Returns the parameter and the names of its state."""
    p = _parameter(Parameter)
    optimizer = make([p], *args, **kwargs)
    optimizer((_tensor(Parameter, [1.0, 2.0]),))
    if make.__name__ != 'Lamb':
        optimizer((_tensor(Parameter, [0.5, 1.0]),))
    names = [q.name for q in optimizer.get_parameters() if q.name.endswith('.p')]
    return [round(float(x), 6) for x in p.asnumpy()], (['params'] + names if make.__name__ == 'Lamb' else names)


def stepped_lars(nn, Parameter):
    p = _parameter(Parameter)
    lars = nn.LARS(nn.Momentum([p], 0.1, 0.9, weight_decay=0.1), coefficient=0.5)
    lars((_tensor(Parameter, [1.0, 2.0]),))
    return p.asnumpy().tolist()


def trained(nn, Tensor, x):
    net = dense(nn)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
    step.set_train()
    losses = [float(step(x, Tensor(np.ones((2, 2), np.float32))).asnumpy()) for _ in range(2)]
    return losses, net.weight.asnumpy().tolist(), step.sens


def scattered(ops, Parameter, Tensor, ms):
    p = Parameter(Tensor(np.zeros((3, 2), np.float32)), name='p')
    ops.ScatterAdd()(p, Tensor([0, 2, 0], ms.int32), Tensor(np.ones((3, 2), np.float32)))
    return p.asnumpy().tolist()


def apply_momentum(ops, Parameter, Tensor, ms):
    p, m = Parameter(Tensor([1.0]), name='p'), Parameter(Tensor([2.0]), name='m')
    ops.ApplyMomentum()(p, m, 0.1, Tensor([1.0]), 0.5)
    return p.asnumpy().tolist(), m.asnumpy().tolist()


def assigned(ops, Parameter, Tensor, name):
    p = Parameter(Tensor([1.0, 2.0]), name='p')
    getattr(ops, name)()(p, Tensor([10.0, 20.0]))
    return p.asnumpy().tolist()


def printed(ops, x):
    ops.Print()('x is', x)
    return True


def dispatched(C):
    graph = C.MultitypeFuncGraph('f')

    @graph.register('Tensor', 'Number')
    def scale(x, n):
        return x * n

    @graph.register('Number', 'Number')
    def numbers_(a, b):
        return a + b
    return graph(2, 3)


def numbers(ds):
    return ds.NumpySlicesDataset((np.arange(5), np.arange(5) * 2.0), ['x', 'y'], shuffle=False)


def rows(data):
    return [[np.asarray(v).tolist() for v in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def config(ds):
    before = ds.config.get_seed()
    ds.config.set_seed(77)
    found = ds.config.get_seed()
    ds.config.set_seed(before)
    return found, error(lambda: ds.config.set_seed('a'))


def fitted(T, nn, ds):
    net = nn.Dense(1, 1, weight_init='ones', bias_init='zeros')
    losses = []
    data = ds.NumpySlicesDataset((np.arange(4, dtype=np.float32).reshape(4, 1), np.zeros((4, 1), np.float32)), ['x', 'y'], shuffle=False).batch(2)
    T.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train(
        2, data, callbacks=T.LambdaCallback(on_train_step_end=lambda c: losses.append(float(c.original_args().net_outputs.asnumpy()))))
    return losses, error(lambda: T.Model(net).train(0, data))


def evaluated(T, nn, ds):
    net = nn.Dense(1, 1, weight_init='ones', bias_init='zeros')
    data = ds.NumpySlicesDataset((np.arange(4, dtype=np.float32).reshape(4, 1), np.zeros((4, 1), np.float32)), ['x', 'y'], shuffle=False).batch(2)
    found = T.Model(net, nn.MSELoss(), metrics={'loss', 'mse'}).eval(data)
    return {k: float(v) for k, v in sorted(found.items())}, error(lambda: T.Model(net).eval(data))


def stopped(T):
    c = T.RunContext({})
    c.request_stop()
    return c.get_stop_requested()


def loss_line(T, Tensor):
    import contextlib
    import io
    from types import SimpleNamespace
    p = SimpleNamespace(net_outputs=Tensor(np.float32(2.305347)), cur_epoch_num=1, cur_step_num=1, batch_num=10, mode='train')

    class Params(dict):
        __getattr__ = dict.__getitem__
    with contextlib.redirect_stdout(io.StringIO()) as text:
        T.LossMonitor().step_end(T.RunContext(Params(vars(p))))
    return text.getvalue()


def saved(ms, nn):
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        ms.save_checkpoint(dense(nn), folder + '/a', append_dict={'epoch': 3})
        found = ms.load_checkpoint(folder + '/a.ckpt')
    return {k: [str(v.dtype), list(v.shape), v.asnumpy().tolist()] for k, v in found.items()}, error(lambda: ms.save_checkpoint(3, 'a'))


def loaded(ms, nn, Parameter, Tensor):
    net = dense(nn)
    left = ms.load_param_into_net(net, {'bias': Parameter(Tensor(np.array([3.0, 4.0], np.float32)), name='bias'),
                                        'x': Parameter(Tensor(np.array([1.0], np.float32)), name='x')})
    a, b = left
    return a, b, net.bias.asnumpy().tolist(), error(lambda: ms.load_param_into_net(3, {}))


def scaled(ms):
    m = ms.DynamicLossScaleManager(16, 2, 2)
    out = []
    for overflow in (False, False, True, False, False):
        m.update_loss_scale(overflow)
        out.append(m.get_loss_scale())
    return out


def algo(ms):
    ms.set_algo_parameters(elementwise_op_strategy_follow=True)
    found = ms.get_algo_parameters('elementwise_op_strategy_follow'), ms.get_algo_parameters('fully_use_devices')
    ms.reset_algo_parameters()
    return found, ms.get_algo_parameters('elementwise_op_strategy_follow')


def split_points(ms):
    c = ms.parallel._auto_parallel_context.auto_parallel_context()
    return c is ms.parallel._auto_parallel_context.auto_parallel_context(), c.get_device_num(), error(lambda: c.set_all_reduce_fusion_split_indices('a'))


# helpers for OWN

def lazy(ms, nn):
    class Net(nn.Cell):
        @ms.lazy_inline
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2)

        def construct(self, x):
            return self.fc(x)
    return Net()


def target(ms):
    out = []
    for name in ('Ascend', 'GPU', 'CPU'):
        ms.set_context(device_target=name)
        out.append(ms.get_context('device_target'))
    return out


def one_rank(ms):
    import os
    comm = ms.communication
    os.environ.update(RANK_ID='0', RANK_SIZE='1')
    ms.set_context(device_target='Ascend')
    try:
        comm.init()
        comm.init()
        comm.create_group('g', [0])
        found = [comm.GlobalComm.WORLD_COMM_GROUP, comm.get_rank(), comm.get_group_size(), comm.get_local_rank(), comm.get_local_rank_size(),
                 comm.get_world_rank_from_group_rank('g', 0), comm.get_process_group_ranks()]
        comm.destroy_group('g')
        return found
    finally:
        comm.release()
        ms.set_context(device_target='CPU')
        for name in ('RANK_ID', 'RANK_SIZE'):
            del os.environ[name]


def updated(nn, Parameter, Tensor, ms):
    update, scale = nn.DynamicLossScaleUpdateCell(8, 2, 2), Parameter(Tensor(8.0, ms.float32), name='scale')
    return [[float(scale.asnumpy()) if update(scale, Tensor(flag)) is not None else 0, flag] for flag in (True, False, False)]


def _scale_step(nn, Tensor, ms, scale):
    net = nn.Dense(3, 1, weight_init='ones', has_bias=False)

    class Sum(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.net = net

        def construct(self, x):
            return self.net(x).sum()
    return nn.TrainOneStepWithLossScaleCell(Sum(), nn.SGD(net.trainable_params(), 0.1), scale), net


def loss_scaled(nn, Tensor, ops, ms):
    step, net = _scale_step(nn, Tensor, ms, nn.DynamicLossScaleUpdateCell(8, 2, 100))
    loss, overflow_, scale = step(Tensor(np.array([[1.0, 2.0, 3.0]], np.float32)) / 6)
    net.weight.set_data(Tensor(np.ones((1, 3), np.float32)))
    step(Tensor(np.array([[1.0, 2.0, 3.0]], np.float32)))
    return float(loss.asnumpy()), bool(overflow_.asnumpy()), float(scale.asnumpy().reshape(-1)[0]), net.weight


def overflow(nn, Tensor, ops, ms):
    step, _ = _scale_step(nn, Tensor, ms, Tensor(8.0, ms.float32))
    status, _ = step.start_overflow_check(Tensor(1.0), Tensor(8.0))
    return [bool(step.get_overflow_status(status, (Tensor(np.array([v, 1.0], np.float32)),)).asnumpy()) for v in (np.inf, 1.0)]


def sense(nn, Tensor, ms):
    step, _ = _scale_step(nn, Tensor, ms, Tensor(8.0, ms.float32))
    step.set_sense_scale(Tensor(32.0, ms.float32))
    return float(step.scale_sense.asnumpy())


def lazily(nn):
    with nn.utils.no_init_parameters():
        net = nn.Dense(3, 2)
    return net.weight.shape


def custom_bprop(nn, ms, x):
    class Net(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * 7,)
    return ms.grad(Net())(x)


def adam_weight_decay(ops, Parameter, Tensor, ms):
    p, m, v = (Parameter(Tensor(np.array(a, np.float32)), name=n) for n, a in (('p', [1.0, 2.0]), ('m', [0.0, 0.0]), ('v', [0.0, 0.0])))
    ops.AdamWeightDecay()(p, m, v, 0.1, 0.9, 0.999, 1e-6, 0.0, Tensor(np.array([1.0, 2.0], np.float32)))
    return [round(float(x), 6) for x in p.asnumpy()]


def fused_momentum(ops, Parameter, Tensor, ms):
    p, m = Parameter(Tensor([1.0]), name='p'), Parameter(Tensor([4.0]), name='m')
    ops.FusedWeightScaleApplyMomentum()(Tensor(1.0), Tensor(0.5), p, m, 0.1, Tensor([1.0]), 0.5)
    return [round(float(p.asnumpy()[0]), 6), float(m.asnumpy()[0])]


def overloads(C, Tensor):
    graph = C.MultitypeFuncGraph('kind')
    for name in ('Tensor', 'Number', 'Bool', 'Tuple', 'String'):
        graph.register(name)(lambda x, name=name: name.lower())
    return [graph(x) for x in (Tensor(1.0), 3, True, (1, 2), 'a', 0.5)]


def overloads_of_number(C):
    graph = C.MultitypeFuncGraph('numbers')
    graph.register('Number')(lambda x: x)
    return graph


def recomputed(nn, x):
    net = dense(nn)
    net.recompute()
    return net(x)


def png(ms):
    """Returns a PNG of 2 x 3 pixels; in the first row, the second pixel has red 200."""
    import struct
    import zlib
    pixels = np.zeros((2, 3, 3), np.uint8)
    pixels[0, 1, 0] = 200

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    raw = b''.join(b'\0' + row.tobytes() for row in pixels)
    data = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 3, 2, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(raw)) + chunk(b'IEND', b'')
    return np.frombuffer(data, np.uint8)


def settings(ds):
    before = ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size()
    ds.config.set_num_parallel_workers(3)
    ds.config.set_prefetch_size(5)
    found = ds.config.get_num_parallel_workers(), ds.config.get_prefetch_size()
    ds.config.set_num_parallel_workers(before[0])
    ds.config.set_prefetch_size(before[1])
    return found


def mnist(ds):
    import struct
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/t10k-images-idx3-ubyte', 'wb') as f:
            f.write(struct.pack('>IIII', 2051, 1, 28, 28) + bytes(784))
        with open(folder + '/t10k-labels-idx1-ubyte', 'wb') as f:
            f.write(struct.pack('>II', 2049, 1) + b'\3')
        return [[list(image.shape), int(label), image.dtype.name]
                for image, label in ds.MnistDataset(folder, 'test').create_tuple_iterator(num_epochs=1, output_numpy=True)]


def log_line(ms):
    import contextlib
    import io
    import re
    with contextlib.redirect_stderr(io.StringIO()) as err:
        ms.log.warning('text %d', 3)
    return re.fullmatch(r'\[WARNING\] ME\(\d+:\d+,MainProcess\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[.*contract_symbols\.py:\d+\] text 3\n',
                        err.getvalue()) is not None


def registered(ms, nn):
    class Net(nn.Cell):
        @ms._extends.cell_attr_register
        def __init__(self, a, b=4):
            super().__init__()
    return Net(3).cell_init_args


def profiled(ms):
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        p = ms.Profiler(output_path=folder)
        ms.Tensor([1.0]) + 1
        p.analyse()
        return sorted(os.listdir(folder + '/profiler/ASCEND_PROFILER_OUTPUT'))


def profile_steps(ms):
    counts = []
    x = ms.Tensor([1.0])
    with ms.profiler.profile(schedule=ms.profiler.schedule(wait=1, active=2, repeat=1), on_trace_ready=lambda p: counts.append(p._recording._timeline.events())) as prof:
        for _ in range(4):
            ms.ops.neg(x)
            prof.step()
    return counts
