"""The order of events of Model.train and Model.fit, by the table that tests/train/loop_cases_test.cc reads, too."""
import json
import os

import pytest

import sindri as ms
import train_cases
from sindri import dataset as ds
from sindri import nn, train

with open(os.path.join(os.path.dirname(__file__), '..', 'train', 'data', 'loop_cases.json'), encoding='utf-8') as f:
    CASES = json.load(f)['cases']


@pytest.mark.parametrize('case', CASES, ids=lambda c: c['name'])
def test_events_come_in_the_order_of_the_table(case):
    ms.set_context(mode=ms.GRAPH_MODE if case.get('mode') == 'graph' else ms.PYNATIVE_MODE, device_target='GPU')  # target with sinking in chunks
    events = []

    def note(text, number=''):
        def hook(run_context):
            events.append(text + str(run_context.original_args()[number] if number else ''))
            if events[-1] == case.get('stop'):
                run_context.request_stop()
        return hook
    recorder = train.LambdaCallback(on_train_begin=note('begin'), on_train_epoch_begin=note('epoch:', 'cur_epoch_num'),
                                    on_train_step_end=note('', 'cur_step_num'), on_train_epoch_end=note('done:', 'cur_epoch_num'),
                                    on_train_end=note('end'), on_eval_end=note('eval'))
    model, _ = train_cases.model(ms, nn, train, metrics={'acc'})
    options = dict(callbacks=recorder, dataset_sink_mode=case.get('sink', False), sink_size=case.get('sink_size', -1),
                   initial_epoch=case.get('initial_epoch', 0))
    if 'valid_frequency' in case:
        model.fit(case['epochs'], train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency=case['valid_frequency'], **options)
    else:
        model.train(case['epochs'], train_cases.dataset(ds), **options)
    assert ' '.join(events) == case['events']
