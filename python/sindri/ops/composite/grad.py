"""Gradients of functions and Cells (MindSpore: ops.GradOperation, grad, value_and_grad; contract 13.1)."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Optional, Union

from sindri import _core, _uses
from sindri._compile import Graphs, RecordRuns, entrance, local, outermost, run_eagerly, run_within
from sindri._core import Parameter, Tensor
from sindri._graph_key import gradient_hooks, hooks_made
from sindri._uses import watching
from sindri.common.parameter import ParameterTuple
from sindri.nn._recording import Inputs, tensors_in
from sindri.nn.cell import Cell

__all__ = ["GradOperation", "grad", "value_and_grad", "get_grad", "jvp", "vjp"]


_NO_WEIGHTS: Any = ()


def forward_on_tape(fn: Any, args: Any, kwargs: Any = None, tape: Any = None, weights: Any = _NO_WEIGHTS) -> Any:
    """Returns (tape, output, the arguments as the tape knows them) of fn(*args).

    The recording of a run that just took place is reused if there is one; otherwise fn runs once more. With a `tape`
    given, fn always runs, on that tape. `weights` are the Parameters whose gradients follow (None: the Cell's
    trainable ones). If an optimizer needs their uses, the tape keeps these.
    """
    if tape is None:
        if isinstance(fn, Cell) and not kwargs:
            for r in reversed(local.recorded):
                if r.matches(fn, args):
                    local.recorded.remove(r)
                    return r.taken()
            if local.seen is not None:
                local.differentiated.append(fn)
            if fn.training and not local.recording and local.seen is not None and not local.apart and fn in local.called and fn not in local.marked:
                if not _core.traced_call_has_run():  # after a condition the call cannot start again: two runs, as in eager mode
                    raise RecordRuns(fn)
        record = (watching or local.seen is not None) and weights is not _NO_WEIGHTS and _uses.ask(lambda: _known_weights(weights, fn))
        tape = _uses.UsesTape() if record else _core.Tape()
    inputs = Inputs(args)
    local.tapes += 1
    local.recording += 1  # Cells inside need no separate recording
    try:
        with tape:
            out = fn(*inputs.args, **(kwargs or {}))
    finally:
        local.tapes -= 1
        local.recording -= 1
    inputs.write_back()
    return tape, out, inputs.wanted


def _only_integers(args: Any, kwargs: Any) -> bool:
    """Returns whether the arguments hold tensors, none of them floating."""
    tensors = tensors_in((args, kwargs), [])
    return bool(tensors) and not any(t.dtype.is_floating for t in tensors)


def _slots(fn: Any) -> Any:
    """Returns [(Parameter, its value)] for what a Cell or a method's object holds, or a function finds in the variables
    around it.
    """
    plain = fn if isinstance(fn, Cell) else inspect.unwrap(fn)
    near = [plain, getattr(plain, "__self__", None)]
    if inspect.isfunction(plain):
        for cell in plain.__closure__ or ():
            try:
                near.append(cell.cell_contents)
            except ValueError:  # a variable that is assigned later on
                pass
        near += [plain.__globals__[name] for name in plain.__code__.co_names if name in plain.__globals__]
    found = [p for v in near for p in (v.get_parameters() if isinstance(v, Cell) else tensors_in(v, [])) if isinstance(p, Parameter)]
    return [(p, p.value()) for p in {id(p): p for p in found}.values()]


def _known_weights(weights: Any, fn: Any) -> Any:
    """Returns the weights of a gradient if they are known before fn has run."""
    return () if weights is None and not isinstance(fn, Cell) else _weights_list(weights, fn)


def _again_on_floats(fn: Any, args: Any, kwargs: Any, before: Any) -> Any:
    """Runs forward_on_tape on float32 copies of the arguments, from the Parameters' values before the first run. The
    Parameters keep the values of the first run.
    """
    after = [p.value() for p, _ in before]
    for p, value in before:
        p.assign(value)
    args, kwargs = _cast_all(args, "float32"), _cast_all(kwargs, "float32")
    try:
        return forward_on_tape(fn, args, kwargs)
    finally:
        for (p, _), value in zip(before, after):
            p.assign(value)


def _cast_all(v: Any, dtype: Any) -> Any:
    """Returns v with every tensor cast to another type."""
    if isinstance(v, Tensor):
        return _core.ops.cast(v, dtype)
    if isinstance(v, dict):
        return {k: _cast_all(x, dtype) for k, x in v.items()}
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v)(*(_cast_all(x, dtype) for x in v))
    return type(v)(_cast_all(x, dtype) for x in v) if isinstance(v, (tuple, list)) else v


def _like(grads: Any, args: Any) -> Any:
    """Returns the gradients in the types of their inputs; None for an input without gradient."""
    if isinstance(grads, Tensor):
        return _core.ops.cast(grads, args.dtype)
    return tuple(_like(g, a) for g, a in zip(grads, args)) if isinstance(grads, tuple) else grads


def _or_nothing(grad: Any) -> Any:
    """Returns a single gradient, or () for an input that has none."""
    return () if grad is None else grad


def _float_tensors(v: Any) -> Any:
    return [t for t in tensors_in(v, []) if t.dtype.is_floating]


def _seeds(outputs: Any, sens: Any) -> Any:
    """Returns one seed per output tensor: ones, or the tensors of sens (a number fills)."""
    if sens is None:
        return None
    flat = tensors_in(sens, []) if not isinstance(sens, (int, float)) else [sens] * len(outputs)
    if len(flat) != len(outputs):
        raise ValueError(f"the output has {len(outputs)} tensors, sens {len(flat)} | GradOperation | give one per output")
    out = []
    for t, o in zip(flat, outputs):
        t = _core.ops.full(o.shape, t, o.dtype) if isinstance(t, (int, float)) else _core.ops.cast(t, o.dtype)
        if t.shape != o.shape:  # one number fills the output, whatever its rank
            t = _core.ops.broadcast_to(_core.ops.reshape(t, ()) if t.size == 1 else t, o.shape)
        out.append(t)
    return out


def _weights_list(weights: Any, fn: Any) -> Any:
    if weights is None:
        if not isinstance(fn, Cell):
            raise ValueError("weights are not given, and the function is not a Cell that has some | GradOperation | give a ParameterTuple")
        return fn.trainable_params()
    return [weights] if isinstance(weights, Parameter) else list(weights)


def _backward(tape: Any, outputs: Any, seeds: Any, inputs: Any, weights: Any) -> Any:
    """Returns the gradients of inputs (any nesting of tensors) and weights. Optimizers that need the weights' uses
    receive them.
    """
    flat = tensors_in([v for v in inputs if not isinstance(v, dict)], [])
    plain = [t for t in flat if not isinstance(t, Parameter)]
    params = [t for t in flat if isinstance(t, Parameter)]
    if weights and isinstance(tape, _uses.UsesTape):
        of_inputs, of_params, uses = tape.backward_with_uses(outputs, seeds, params + weights, plain)
        _uses.note(params + weights, uses, tape.scale(None if seeds is None else seeds[0]))
    else:
        of_inputs, of_params = tape.backward(outputs, seeds, plain, params + weights)
    of_params = through_hooks(params + weights, of_params)
    plain_it, param_it = iter(of_inputs), iter(of_params[:len(params)])

    def rebuild(v: Any) -> Any:
        if isinstance(v, Parameter):
            return next(param_it)
        if isinstance(v, Tensor):
            return next(plain_it)
        if isinstance(v, (tuple, list)):
            return tuple(rebuild(x) for x in v)
        return None

    return rebuild(inputs), tuple(of_params[len(params):])


def through_hooks(params: Any, grads: Any) -> Any:
    """Returns the gradients after the Parameters' hooks."""
    if not hooks_made[0]:
        return grads
    return tuple(_through(p, g) if g is not None and p.requires_grad else g for p, g in zip(params, grads))


def _through(param: Parameter, grad: Tensor) -> Tensor:
    for hook in gradient_hooks(param):
        changed = hook(grad)
        if changed is None:
            continue
        if not isinstance(changed, Tensor):
            raise TypeError(f"a hook of parameter '{param.name}' returned {type(changed).__name__} | Parameter.register_hook | return a Tensor, or None to keep the gradient")
        if changed.shape != grad.shape:
            raise ValueError(f"a hook of parameter '{param.name}' returned shape {tuple(changed.shape)} for a gradient of shape {tuple(grad.shape)} | "
                             "Parameter.register_hook | return the gradient's shape")
        grad = changed if changed.dtype == grad.dtype else _core.ops.cast(changed, grad.dtype)
    return grad


class _Compilable:
    """A gradient function that is compiled if it is the outermost call in GRAPH_MODE."""

    def __init__(self, run: Any, name: str) -> None:
        self._run, self._name = run, name
        self._graphs: Optional[Graphs] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not outermost():
            return self._run(*args, **kwargs)
        if local.apart:
            return self.graphs().call_apart(args, kwargs)
        if _core.get_mode() == 0:
            return self.graphs().call(args, kwargs)
        return run_eagerly(self._run, args, kwargs)

    def take_over(self, fn: Any, inputs: Any, args: Any, kwargs: Any) -> Any:
        """Handles an eager call of GRAPH_MODE after recorded runs of fn: the gradient of a run that a graph has made is
        another graph.
        """
        run = next((r for r in reversed(local.recorded) if inputs is not None and r.matches(fn, inputs)), None)
        if run is None or run.form is None:
            return run_within(self._run, args, kwargs)
        local.recorded.remove(run)
        return run.form.gradient(self, self._run, self._name).call_apart((run.given, *args), kwargs)

    def graphs(self) -> Graphs:
        if self._graphs is None:
            self._graphs = Graphs(self._run, self._name, whole=True)
        return self._graphs


entrance(_Compilable.__call__, lambda compilable: (compilable.graphs(), None))


def _outer(fn: Any, run: Any, name: str, sens_param: bool = False) -> Any:
    """Works as _Compilable, but also reuses a forward run of the same Cell that was just recorded between outermost
    calls.
    """
    compiled = _Compilable(run, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if local.depth == 0 and local.recorded and isinstance(fn, Cell) and any(r.cell is fn for r in local.recorded):
            if not local.apart:
                return run(*args, **kwargs)
            inputs, others = (args[:-1], kwargs) if sens_param and "sens" not in kwargs else (args, {k: v for k, v in kwargs.items() if k != "sens"})
            return compiled.take_over(fn, inputs if not others else None, args, kwargs)
        return compiled(*args, **kwargs)

    return call


class GradOperation:
    """Creates gradient functions: `GradOperation(...)(fn, weights)(*inputs[, sens])`.

    Without flags the result is the gradient of the first input. With both `get_all` and `get_by_list` it is (inputs,
    weights).

    A forward run of the same Cell on the same inputs just before is reused: batch statistics and random numbers
    advance once. Values that are not tensors have no gradient: () for the first input; `get_all` omits them. The
    gradient of integers is rounded towards 0, in their type. If inputs and outputs hold integers only, fn runs a
    second time on float32 copies, from the values that its Cells and Parameters had before; they keep those of the
    first run.

    Args:
        get_all (bool): Whether to return a tuple over all inputs. Default: False.
        get_by_list (bool): Whether to return a tuple over `weights` (a ParameterTuple; by default the Cell's
            trainable ones). Default: False.
        sens_param (bool): Whether the last argument of the call is the gradient of the output; otherwise it is ones.
            Default: False.

    Raises:
        TypeError: If a flag is not a bool or the function is not callable.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.GradOperation()(lambda x: x * x)(ms.Tensor([3.0])))
        [6.]
        >>> print(ms.ops.GradOperation(get_all=True)(lambda x, y: x * y)(ms.Tensor([3.0]), ms.Tensor([4.0])))
        (Tensor(shape=[1], dtype=Float32, value= [ 4.00000000e+00]), Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00]))
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, v in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(v, bool):
                raise TypeError(f"{name} must be a bool, got {v!r} | GradOperation")
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self._cache: dict[Any, Any] = {}

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        if not callable(fn):
            raise TypeError(f"expected a Cell or a function, got {type(fn).__name__} | GradOperation")
        key = (fn if isinstance(fn, Cell) else id(fn), id(weights))
        hit = self._cache.get(key)
        if hit is not None and hit[1] is fn and hit[2] is weights:
            return hit[0]
        made = _outer(fn, lambda *args, **kwargs: self._grad(fn, weights, args, kwargs), getattr(fn, "__name__", type(fn).__name__) + "_grad",
                      self.sens_param)
        if len(self._cache) > 64:
            self._cache.clear()
        self._cache[key] = (made, fn, weights)
        return made

    def _grad(self, fn: Any, weights: Any, args: Any, kwargs: Any) -> Any:
        sens = None
        if self.sens_param:
            if "sens" in kwargs:
                sens = kwargs.pop("sens")
            else:
                if not args:
                    raise TypeError("sens is missing | GradOperation(sens_param=True) | give the output's gradient as last argument")
                args, sens = args[:-1], args[-1]
        if not self.get_by_list and not args:
            raise ValueError("there is no input to differentiate | GradOperation | give inputs, or get_by_list=True")
        integers = sens is None and not self.get_by_list and _only_integers(args, kwargs)
        before = _slots(fn) if integers else ()
        tape, out, inputs = forward_on_tape(fn, args, kwargs, weights=weights if self.get_by_list else _NO_WEIGHTS)
        again = integers and not _float_tensors(out)
        if again:
            tape, out, inputs = _again_on_floats(fn, args, kwargs, before)
        outputs = _float_tensors(out) if sens is None else tensors_in(out, [])
        wanted = inputs if self.get_all else inputs[:1] if not self.get_by_list else ()
        params = _weights_list(weights, fn) if self.get_by_list else []
        of_inputs, of_params = _backward(tape, outputs, _seeds(outputs, sens), wanted, params)
        if again:
            of_inputs = _like(of_inputs, args)
        if self.get_all:
            of_inputs = tuple(g for g in of_inputs if g is not None)
            return (of_inputs, of_params) if self.get_by_list else of_inputs
        if isinstance(weights, Parameter):
            return of_params[0]
        return of_params if self.get_by_list else _or_nothing(of_inputs[0])


def _check(fn: Any, grad_position: Any, weights: Any, has_aux: Any) -> Any:
    """Returns the positions as a tuple, after checking the arguments."""
    if not callable(fn):
        raise TypeError(f"expected a Cell or a function, got {type(fn).__name__} | grad")
    if grad_position is None and weights is None:
        raise ValueError("neither grad_position nor weights is given | grad | say what to differentiate by")
    positions = () if grad_position is None else grad_position if isinstance(grad_position, tuple) else (grad_position,)
    if any(not isinstance(p, int) or isinstance(p, bool) for p in positions):
        raise TypeError(f"grad_position must be an int or a tuple of ints, got {grad_position!r} | grad")
    if any(p < 0 for p in positions) or len(set(positions)) != len(positions):
        raise ValueError(f"grad_position must hold different positions from 0, got {grad_position!r} | grad")
    if grad_position == ():
        raise RuntimeError("grad_position is empty | grad | give the positions of inputs, or None with weights")
    if weights is not None and not isinstance(weights, (Parameter, tuple, list)):
        raise TypeError(f"weights must be a Parameter or a ParameterTuple, got {type(weights).__name__} | grad")
    if not isinstance(has_aux, bool):
        raise TypeError(f"has_aux must be a bool, got {has_aux!r} | grad")
    return positions


def _value_and_grad(fn: Any, grad_position: Any, weights: Any, has_aux: Any, return_ids: Any, args: Any, kwargs: Any) -> Any:
    positions = _check(fn, grad_position, weights, has_aux)
    if positions and max(positions) >= len(args):
        raise RuntimeError(f"grad_position {max(positions)} is out of range for {len(args)} inputs | grad")
    integers = weights is None and _only_integers(args, kwargs)
    before = _slots(fn) if integers else ()
    tape, out, inputs = forward_on_tape(fn, args, kwargs, weights=_NO_WEIGHTS if weights is None else weights)
    if has_aux and not isinstance(out, (tuple, list)):
        raise ValueError("with has_aux the function must return (value, aux, …) | grad | return a tuple")
    value = out[0] if has_aux else out
    again = integers and not _float_tensors(value)
    if again:
        tape, value, inputs = _again_on_floats(fn, args, kwargs, before)
        value = value[0] if has_aux else value
    params = [] if weights is None else [weights] if isinstance(weights, Parameter) else list(weights)
    of_inputs, of_params = _backward(tape, _float_tensors(value), None, tuple(inputs[p] for p in positions), params)
    if again:
        of_inputs = _like(of_inputs, tuple(args[p] for p in positions))
    ids_in, ids_w = tuple(zip(positions, of_inputs)), tuple((p.name, g) for p, g in zip(params, of_params))
    if return_ids:
        of_inputs, of_params = ids_in, ids_w
    input_grads = _or_nothing(of_inputs[0]) if len(positions) == 1 else tuple(of_inputs)
    weight_grads = of_params[0] if isinstance(weights, Parameter) else tuple(of_params)
    grads = input_grads if weights is None else weight_grads if grad_position is None else (input_grads, weight_grads)
    return out, grads


def value_and_grad(fn: Callable[..., Any], grad_position: Union[int, tuple[int, ...], None] = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False) -> Callable[..., Any]:
    """Creates a function that returns (fn's value, gradients).

    Args:
        fn (Callable): A function or a Cell.
        grad_position (int or tuple of ints): The position of the differentiated input, a tuple of positions, or None;
            see `grad`. Default: 0.
        weights (Parameter or ParameterTuple): The differentiated Parameters, or None. Default: None.
        has_aux (bool): Whether only the first output is differentiated. Default: False.
        return_ids (bool): Whether each gradient comes with its position or name; see `get_grad`. Default: False.

    Returns:
        A function of fn's arguments.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If both `grad_position` and `weights` are None.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.value_and_grad(lambda x: x * x)(ms.Tensor([3.0])))
        [9.] [6.]
    """
    _check(fn, grad_position, weights, has_aux)
    return _outer(fn, lambda *args, **kwargs: _value_and_grad(fn, grad_position, weights, has_aux, return_ids, args, kwargs), "value_and_grad")


def grad(fn: Callable[..., Any], grad_position: Union[int, tuple[int, ...], None] = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False) -> Callable[..., Any]:
    """Creates the gradient function of a function or a Cell. Nest calls for gradients of gradients.

    An input that is not a tensor has no gradient: (), and None within a tuple. The gradient of integers is rounded
    towards 0, in their type. If inputs and outputs hold integers only, fn runs a second time, as in `GradOperation`.
    The gradient of a Parameter without requires_grad is zero.

    Args:
        fn (Callable): A function or a Cell.
        grad_position (int or tuple of ints): The position of the differentiated input, or a tuple of one (one
            gradient), a tuple of several (a tuple), or None. Default: 0.
        weights (Parameter or ParameterTuple): A Parameter (one gradient), a ParameterTuple (a tuple), or None. If
            both are given, the result is (inputs, weights). Default: None.
        has_aux (bool): Whether only the first output is differentiated; the result is then (gradients, tuple of the
            other outputs). Default: False.
        return_ids (bool): Whether each gradient comes with its position or name; see `get_grad`. Default: False.

    Returns:
        A function of fn's arguments.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If both `grad_position` and `weights` are None.
        RuntimeError: If fn is called without the input at `grad_position`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.grad(lambda x, y: x * y)(ms.Tensor([3.0]), ms.Tensor([4.0])))
        [4.]
        >>> print(ms.ops.grad(lambda x, y: x * y, 1)(ms.Tensor([3.0]), ms.Tensor([4.0])))
        [3.]
        >>> print(ms.ops.grad(ms.ops.grad(lambda x: x * x * x))(ms.Tensor([2.0])))
        [12.]
    """
    _check(fn, grad_position, weights, has_aux)

    def run(*args: Any, **kwargs: Any) -> Any:
        out, grads = _value_and_grad(fn, grad_position, weights, has_aux, return_ids, args, kwargs)
        return (grads, tuple(out[1:])) if has_aux else grads

    return _outer(fn, run, "grad")


def get_grad(gradients: Any, identifier: Any) -> Any:
    """Returns the gradient of an input or a Parameter from gradients computed with return_ids.

    Args:
        gradients: The result of a function of `grad` or `value_and_grad`.
        identifier (int, str or Parameter): The position of the input, or the Parameter or its name.

    Returns:
        The gradient.

    Raises:
        RuntimeError: If the gradient does not exist.

    Examples:
        >>> import sindri as ms
        >>> gradients = ms.ops.grad(lambda x, y: x * y, (0, 1), return_ids=True)(ms.Tensor([3.0]), ms.Tensor([4.0]))
        >>> print(ms.ops.get_grad(gradients, 1))
        [3.]
    """
    name = identifier.name if isinstance(identifier, Parameter) else identifier

    def find(v: Any) -> Any:
        if isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], (int, str)):
            return v[1] if v[0] == name else None
        if isinstance(v, (tuple, list)):
            for x in v:
                hit = find(x)
                if hit is not None:
                    return hit
        return None

    found = find(gradients)
    if found is None:
        raise RuntimeError(f"no gradient of {name!r} | get_grad | ask for it in grad_position or weights, with return_ids=True")
    return found


def vjp(fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False) -> Any:
    """Returns fn's value and a function that computes vector-Jacobian products at these inputs.

    Args:
        fn (Callable): A function or a Cell.
        *inputs: The inputs.
        weights (Parameter or ParameterTuple): The differentiated Parameters, or None. Default: None.
        has_aux (bool): Whether only the first output is differentiated. Default: False.

    Returns:
        (value, function from an output gradient to the tuple of the inputs' gradients). With `weights` the function
        returns (inputs, weights). With `has_aux` the other outputs follow: one unchanged, several as a tuple.

    Examples:
        >>> import sindri as ms
        >>> value, pull = ms.ops.vjp(lambda x: x * x, ms.Tensor([3.0]))
        >>> print(value, pull(ms.Tensor([1.0])))
        [9.] (Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00]),)
    """
    tape, out, inputs = forward_on_tape(fn, inputs, weights=_NO_WEIGHTS if weights is None else weights)
    primal = out[0] if has_aux else out
    outputs = tensors_in(primal, [])

    def pull(*sens: Any) -> Any:
        params = [] if weights is None else [weights] if isinstance(weights, Parameter) else list(weights)
        of_inputs, of_params = _backward(tape, outputs, _seeds(outputs, sens[0] if len(sens) == 1 else sens), inputs, params)
        return of_inputs if weights is None else (of_inputs, of_params[0] if isinstance(weights, Parameter) else of_params)

    return (primal, pull, _aux(out)) if has_aux else (primal, pull)


def _aux(out: Any) -> Any:
    """Returns the outputs after the first: one unchanged, several as a tuple."""
    return out[1] if len(out) == 2 else tuple(out[1:])


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """Returns fn's value and its derivative in a direction, computed by two reverse passes.

    Args:
        fn (Callable): A function or a Cell.
        inputs (Tensor or sequence of Tensors): The inputs.
        v (Tensor or sequence of Tensors): The direction, one tensor per input.
        has_aux (bool): Whether only the first output is differentiated. Default: False.

    Returns:
        (value, derivative). With `has_aux` the other outputs follow: one unchanged, several as a tuple.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.jvp(lambda x: x * x, ms.Tensor([3.0]), ms.Tensor([1.0])))
        [9.] [6.]
    """
    inputs, v = (inputs if isinstance(inputs, (tuple, list)) else (inputs,)), (v if isinstance(v, (tuple, list)) else (v,))
    outer = _core.Tape()
    local.tapes += 1
    try:
        with outer:
            tape, out, inputs = forward_on_tape(fn, tuple(inputs))
            outputs = tensors_in(out[0] if has_aux else out, [])
            dummies = [_core.ops.zeros_like(o) + 0 for o in outputs]
            of_inputs, _ = _backward(tape, outputs, dummies, inputs, [])
    finally:
        local.tapes -= 1
    tangents, _ = outer.backward(list(of_inputs), list(v), dummies, [])
    value = out[0] if has_aux else out
    result = tangents[0] if len(tangents) == 1 else tuple(tangents)
    return (value, result, _aux(out)) if has_aux else (value, result)
