"""Targets, devices and their memory with the simulated accelerator (tests/device/simulator.h), in separate processes, where missing devices are reported, too.
"""
import re

import pytest

import mindspore as ms
from simulated import run

def test_a_backends_device_is_named_and_used(simulator):
    out, err = run("""
ms.set_context(device_target='sim', device_id=1)
print(_core.current_device(), ms.get_context('device_target'), ms.get_context('device_id'), ms.get_current_device())
ms.set_context(device_id=0)
print(_core.current_device())
ms.set_device('SIM', 1)
print(_core.current_device(), ms.get_current_device().device_target, ms.get_current_device().device_id)
ms.set_device('SIM')
print(_core.current_device())
x = ms.ops.add(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0]))
print(_core.device_memory_stats()['in_use'] > 0)
ms.set_context(device_target='CPU')
print(_core.current_device())
""", simulator)
    assert out.splitlines() == ["sim:1 sim 1 ('sim', 1)", "sim:0", "sim:1 SIM 1", "sim:0", "True", "cpu"] and err == ""


def test_what_is_not_there_is_said(simulator):
    out, _ = run("""
for call in (lambda: ms.set_context(device_target='sim', device_id=2), lambda: ms.set_context(device_target='Sim'), lambda: ms.set_device('TPU', 0),
             lambda: ms.set_context(device_id=4096), lambda: ms.set_device('Davinci')):
    try:
        call()
    except (ValueError, RuntimeError) as e:
        print(type(e).__name__, e)
print(_core.current_device(), ms.get_context('device_target'), ms.get_context('device_id'))
""", simulator)
    lines = out.splitlines()
    assert re.fullmatch(r"DeviceError there is no device sim 2 \| found: cpu \(CPU, .*\); sim:0 \(simulated accelerator 0, device_target SIM\); sim:1 .*", lines[0])
    lines = [line.replace("Davinci, cuda, SIM", "Davinci, SIM") for line in lines]  # if the CUDA backend was built
    assert lines[1] == "InvalidValueError device_target must be one of CPU, GPU, Ascend, Davinci, SIM, sim, got 'Sim' | did you mean 'SIM'? Capitals count"
    assert lines[2].startswith("InvalidValueError device_target must be one of CPU, GPU, Ascend, Davinci, SIM, sim, got 'TPU' | ")
    assert lines[3:] == ["InvalidValueError device_id must be from 0 to 4095, got 4096",
                         "ValueError set_device does not know the old name 'Davinci'; it is 'Ascend' | set_context(device_target=…)", "cpu CPU 0"]


SCRIPT = """
import mindspore as ms
for target in ('Ascend', 'GPU', 'Ascend'):
    ms.set_context(mode=ms.GRAPH_MODE, device_target=target, device_id=3)
    assert ms.get_context('device_target') == target and ms.get_context('device_id') == 3
print((ms.Tensor([1.0, 2.0]) + 1).asnumpy())
"""


def test_scripts_for_other_machines_compute_on_the_cpu_and_one_line_says_so():
    out, err = run(SCRIPT)
    assert out == "[2. 3.]\n"
    lines = err.splitlines()
    assert len(lines) == 1 and re.search(r"\[warning\] \[device\] device_target Ascend: there is no backend for Ascend \(found: cpu .*\); the CPU computes\. "
                                         r"SINDRI_STRICT_TARGET=1 makes this an error$", lines[0]), err


def test_init_without_a_launcher_is_a_group_of_one_on_the_gpu_target():
    """As with NCCL in MindSpore, where scripts call init() for one card, too. On the other targets it is an error that says how to start ranks."""
    out, err = run("""
import mindspore as ms
from mindspore import communication as c
ms.set_context(device_target='GPU')
for backend in (None, 'nccl'):
    c.init(backend)
    print(c.get_rank(), c.get_group_size(), ms.ops.AllReduce()(ms.Tensor([2.0])).asnumpy())
    c.release()
for target in ('CPU', 'Ascend'):
    ms.set_context(device_target=target)
    try:
        c.init()
    except RuntimeError as e:
        print('was not launched as part of a group' in str(e))
""")
    assert out == "0 1 [2.]\n0 1 [2.]\nTrue\nTrue\n", (out, err)


def test_a_strict_target_is_an_error():
    script = SCRIPT.replace("import mindspore as ms\n", "import mindspore as ms\ntry:\n    ms.set_context(device_target='GPU')\nexcept ms.DeviceError as e:\n"
                            "    print(isinstance(e, RuntimeError), e)\nraise SystemExit\n")
    out, err = run(script, SINDRI_STRICT_TARGET="1")
    assert re.fullmatch(r"True there is no device GPU 0 \| found: cpu \(.*\) \| (the CUDA backend .* is not installed|there is no NVIDIA driver).*: .*\n", out) and err == ""


def test_a_limit_of_device_memory(simulator):
    out, _ = run("""
ms.set_context(max_device_memory='0.5GB', device_target='sim')
print(_core.device_memory_stats()['limit'])
ms.set_context(max_device_memory='1024GB')
print(_core.device_memory_stats()['limit'])
""", simulator)
    assert out.split() == [str(2**29), "0"]
    for size in ("1", "GB", "-1GB", "0GB", "1MB", "1..5GB"):
        with pytest.raises(ValueError, match="positive number followed by 'GB'"):
            ms.set_context(max_device_memory=size)
    ms.set_context(max_device_memory="1.5GB")
    assert ms.get_context("max_device_memory") == "1.5GB"
    ms.set_context(max_device_memory="1024GB")


def test_memory_of_a_device_is_counted(simulator):
    out, err = run("""
ms.set_context(device_target='sim', device_id=1)
r, h = ms.runtime, ms.hal
before = r.memory_allocated()
x = ms.ops.add(ms.Tensor([1.0] * 262144), ms.Tensor([2.0] * 262144))
held = r.memory_allocated() - before
print(held >= 2**20, r.max_memory_allocated() >= held, r.memory_reserved() >= r.memory_allocated())
del x
r.synchronize()
print(r.current_stream().query(), r.memory_allocated() < held, r.memory_stats()['total_idle_memory'] > 0)
r.empty_cache()
print(r.memory_stats()['total_idle_memory'], r.max_memory_reserved() >= held)
r.reset_max_memory_allocated()
print(r.max_memory_allocated() == r.memory_allocated(), r.max_memory_reserved() >= held)
r.reset_peak_memory_stats()
print(r.max_memory_reserved() == r.memory_reserved(), h.memory_allocated('SIM') == r.memory_allocated(), h.memory_allocated('CPU') != -1)
print(h.device_count(), h.device_count('sim'), ms.device_count('CPU'), h.is_available('sim'), h.is_available('GPU'))
print(h.get_device_name(1), h.get_device_properties(1).total_memory, h.get_device_name(0, 'CPU'), h.get_device_properties(0, 'CPU'))
r.set_memory(max_size='1GB')
print(_core.device_memory_stats()['limit'], repr(r.current_stream()))
""", simulator)
    assert out.splitlines() == ["True True True", "True True True", "0 True", "True True", "True True True", "2 2 1 True False",
                                "simulated accelerator 1 2147483648 CPU None", "1073741824 Stream(device_name=sim, id=0)"] and err == ""


def test_a_profile_shows_what_the_host_waited_for(simulator, tmp_path):
    out, _ = run(f"""
import json
p = ms.Profiler(output_path={str(tmp_path)!r})
x = ms.ops.add(ms.Tensor([1.0]), ms.Tensor([2.0]))
ms.set_context(device_target='sim')
y = ms.ops.add(ms.Tensor([1.0]), ms.Tensor([2.0]))
ms.runtime.synchronize()
p.analyse()
folder = {str(tmp_path)!r} + '/profiler/ASCEND_PROFILER_OUTPUT/'
events = json.load(open(folder + 'trace_view.json'))['traceEvents']
print([(e['name'], e['dur'] >= 0) for e in events if e['cat'] == 'wait'])
print('wait' in open(folder + 'op_statistic.csv').read())
""", simulator)
    assert out.splitlines() == ["[('wait: synchronize', True)]", "False"]


def test_memory_of_the_cpu_is_counted():
    r, h = ms.runtime, ms.hal
    r.reset_peak_memory_stats()
    before = r.memory_allocated()
    x = ms.ops.ones((1024, 1024))
    assert r.memory_allocated() - before >= 4 * 2**20 and r.max_memory_allocated() >= before + 4 * 2**20
    assert r.max_memory_reserved() >= r.max_memory_allocated() and x.size == 2**20
    assert set(r.memory_stats()) == {"total_reserved_memory", "total_allocated_memory", "total_idle_memory", "total_eager_free_memory", "max_reserved_memory",
                                     "max_allocated_memory", "common_mem_pool_stats", "persistent_mem_pool_stats"}
    assert h.device_count() == ms.device_count() == ms.device_context.cpu.device_count() == 1 and h.is_available("CPU") and not ms.device_context.gpu.is_available()
    assert r.current_stream().query() and r.synchronize() is None
    for call in (lambda: h.device_count("GPU"), lambda: h.memory_stats("Ascend"), lambda: h.is_available("cpu"), lambda: h.get_device_name(1)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        h.get_device_name("0")


def test_the_summary_is_mindspores_table():
    """Has the rows and units of MindSpore 2.10's memory_summary, which prints zeros on a CPU."""
    stats = dict.fromkeys(ms.runtime.memory_stats(), 0)
    text = ms.runtime.summary_of(dict(stats, total_reserved_memory=3 * 2**30))
    lines = text.splitlines()
    assert lines[0] == "|" + "=" * 45 + "|" and lines[1] == "|               Memory summary                |" and lines[-1] == lines[0]
    assert lines[5] == "| Reserved memory      |   3072 MB            |" and lines[7] == "| Allocated memory     |      0 B             |"
    assert [line for line in lines if line.startswith("|---")] == ["|" + "-" * 45 + "|"] * 6


def test_the_cpu_in_place_of_another_target_is_counted():
    ms.set_context(device_target="GPU")
    assert ms.hal.device_count() == 1 and ms.runtime.memory_allocated() >= 0
