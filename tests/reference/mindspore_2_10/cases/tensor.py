"""Creating and converting tensors, attributes, methods without a function, Parameters, COOTensor and CSRTensor."""
from . import lines

MADE = ("1", "1.5", "True", "[1, 2]", "[1.5, 2]", "[True, False]", "(1, 2)", "[[1, 2], [3, 4]]", "[[1, 2], [3]]", "[]", "np.array([1, 2])", "np.array([1.5])", "np.float32(2)",
        "np.int32(2)", "np.array([1], np.uint8)", "np.zeros((0, 3))", "np.array(True)", "[1, 2.5]", "[True, 2]", "'a'", "None", "f([1, 2])", "[f(1), f(2)]", "2 ** 40", "1e300",
        "np.array([1, 2], np.float16)", "[np.float32(1), 2]", "range(3)", "{1: 2}", "np.array(['a'])", "1 + 2j", "[nan, inf]", "-1", "[[]]")
TYPES = "bool_ int8 uint8 int16 int32 int64 float16 float32 float64 bfloat16 uint16 uint32 uint64 complex64".split()


def cases():
    for value in MADE:
        yield f"Tensor({value})"
        yield f"Tensor({value}, ms.float32)"
        yield f"ms.tensor({value})"
        yield f"ms.tensor({value}, dtype=ms.int32)"
        yield f"Parameter({value}, name='p')"
        yield f"mnp.array({value})"
        yield f"mnp.asarray({value})"
    for t in TYPES:
        yield f"f([1.7, 0, 3]).astype(ms.{t})"
        yield f"Tensor([0, 1, 2], ms.{t})"
        yield f"i([1, 0]).to(ms.{t})"
        yield f"ops.zeros((1,), ms.{t})"
        yield f"ops.ones((1,), ms.{t}) + 1"
        yield f"ops.ones((1,), ms.{t}) + 1.5"
        yield f"ms.{t}"
        yield f"str(ms.{t})"
        yield f"ms.dtype_to_nptype(ms.{t}).__name__"
        yield f"ms.dtype_to_pytype(ms.{t})"
        yield f"f([1]).type(ms.{t})"
    for m in "add_ sub_ mul_ div_ floor_divide_ remainder_".split():
        for y in ("2", "f([1, 2])", "1.5", "f([[1, 2]])", "i([1, 2])"):
            yield f"x = f([5, 7]); y = x.{m}({y}); (x, y is x)"
            yield f"x = i([5, 7]); x.{m}({y}); x"
    for m in "exp_ log_ floor_ sigmoid_ tanh_ sign_ zero_".split():
        yield f"x = f([0.5, 2]); y = x.{m}(); (x, y is x)"


OTHER = lines("""
Tensor(shape=(2, 3), dtype=ms.float32, init=init.One())
Tensor(shape=(2, 3), dtype=ms.float32, init=init.One()).init_data()
Tensor(shape=(2, 3), dtype=ms.float32, init='ones').init_data()
Tensor(shape=(2, 3), dtype=ms.float32).shape
Tensor([1, 2], dtype=ms.float32, const_arg=True)
Tensor([1, 2], internal=False)
Tensor(1, dtype=float)
Tensor([1.0], dtype='float32')
Tensor([1.0], np.float16)
Tensor.from_numpy(np.array([1, 2], np.int32))
Tensor(f([1.5]), ms.int32)
str(f([1, 2]))
repr(f([1, 2.5]))
repr(i([[1, 2], [3, 4]]))
repr(b([True]))
repr(f(1.5))
str(h([1.5]))
repr(X(3, 3))
f'{f(1.5)}'
repr(Parameter(f([1]), name='w'))
str(Parameter(f([1]), name='w'))
repr(ms.float32)
X(2).asnumpy()
X(2).numpy()
np.array(X(2))
np.asarray(i([1]))
np.sum(f([1, 2]))
np.float32(f(1.5))
bf([1.5]).float().asnumpy()
X(2).copy()
X(2).clone()
X(2).contiguous()
X(2).half()
X(2).float()
X(2).double()
X(2).int()
X(2).long()
X(2).bool()
X(2).bfloat16()
X(2).byte()
X(2).type()
X(2).type_as(i([1]))
X(2).to(ms.float16)
X(2).is_floating_point()
X(2).is_complex()
X(2).is_signed()
X(2).value()
X(2).has_init
X(2).virtual_flag
X(2).dtype.__str__()
X(2).assign_value(f([1, 2]))
x = X(2); x.assign_value(f([1, 2])); x
x = X(2); x.set_dtype(ms.float16); x
x = X(2); x.set_dtype(ms.float16)
x = X(2); x.copy_(f([1, 2])); x
x = X(2); x.copy_(i([1, 2])); x
x = X(2); x.clamp_(0, 1); x
x = X(2); x.index_fill_(0, i([0]), 3); x
x = X(2); x.index_add_(0, i([0]), f([3])); x
x = X(2); x.masked_fill_(b([True, False]), 3); x
x = X(2); x.normal_().shape
x = X(2); x.uniform_().shape
x = X(2); x.fill_(2); x
x = X(2); x.data
x = X(2); x.data is x
x = X(2); x.grad
x = X(2); x.requires_grad
x = X(2); x.device
X(2).equal(X(2))
X(2) == X(2)
X(2) is None
X(2) == None
X(2) != None
f([1]) == 'a'
X(2).ger(X(3))
X(2).outer(X(3))
X(2).dot(X(2))
X(2).inner(X(2))
X(2, 3).matmul(X(3, 2))
X(2, 3).mm(X(3, 2))
X(2, 2, 3).bmm(X(2, 3, 2))
X(2).addmv(X(2, 3), X(3))
X(2, 2).addmm(X(2, 3), X(3, 2))
X(2, 2).addbmm(X(2, 2, 3), X(2, 3, 2))
X(2, 2, 2).baddbmm(X(2, 2, 3), X(2, 3, 2), beta=0.5)
X(2, 3).addr(X(2), X(3))
X(2, 3).true_divide(2)
X(2, 3).ldexp(i([1, 2, 3]))
X(2, 3).hypot(X(2, 3))
X(2, 3).heaviside(f(1))
X(2, 3).xlogy(f(2))
X(2, 3).cross(X(2, 3, s=1))
X(2, 3).negative()
X(2, 3).remainder(2)
X(2, 3).fmod(2)
X(2, 3).pow(2)
X(2, 3).atan2(f(1))
X(2, 3).isclose(X(2, 3))
X(2, 3).allclose(X(2, 3))
X(2, 3).approximate_equal(X(2, 3))
X(2, 3).logaddexp(X(2, 3))
X(2, 3).minimum(0)
X(2, 3).maximum(f([0, 1, 2]))
X(2, 3).lerp(X(2, 3, s=1), 0.5)
X(2, 3).log_softmax(0)
X(2, 3).relu()
X(2, 3).gelu()
X(2, 3).soft_shrink()
X(2, 3).erfinv()
X(2, 3).digamma()
X(2, 3).lgamma()
X(2, 3).std(unbiased=False)
X(2, 3).svd()[0].shape
X(3, 3).inverse().shape
(X(2, 2, 2) @ X(2, 2, 2)).shape
X(2, 3).unsorted_segment_sum(i([0, 0]), 1)
X(2, 3).unsorted_segment_max(i([0, 0]), 1)
X(4).random_categorical(2).shape
X(2, 3).multinomial(2).shape
X(2, 3).bernoulli().shape
X(2, 3).register_hook(lambda g: g) is not None
X(2, 3).sparse_resize
X(2, 3).nonexistent
X(2, 3).det()
X(3, 3).det()
X(3, 3).logdet().shape
X(3, 3).slogdet()[0].shape
X(2, 3).gather_nd(i([[0, 1]]))
X(2, 3).gather_elements(1, i([[0], [1]]))
X(2, 3).scatter_mul(i([[0, 1]]), f([2]))
X(2, 3).scatter_max(i([[0, 1]]), f([2]))
X(2, 3).scatter_sub(i([[0, 1]]), f([2]))
X(2, 3).scatter_div(i([[0, 1]]), f([2]))
X(2, 3).tensor_scatter_update
X(2, 3).argsort(dim=0)
i([6, 3]).bitwise_and(3)
i([6, 3]).bitwise_not()
i([6, 3]).invert()
ops.bitwise_not(i([6]))
f([1, 2]).__array__()
bytes(f([1])) == f([1]).asnumpy().tobytes()
f([1, 2]).get_bytes()
Parameter(f([1, 2]))
Parameter(f([1, 2]), 'w').name
Parameter(f([1, 2])).name
Parameter(f([1, 2]), name='w', requires_grad=False).requires_grad
Parameter(2, name='w')
Parameter(2.5, name='w').dtype
Parameter([1, 2], name='w')
Parameter(init.initializer('ones', (2, 2)), name='w')
Parameter(f([1, 2]), name=5)
Parameter(f([1, 2]), name='a.b').name
p = Parameter(f([1, 2]), name='w'); p.set_data(f([3, 4])); p
p = Parameter(f([1, 2]), name='w'); p.set_data(f([3, 4, 5]))
p = Parameter(f([1, 2]), name='w'); p.set_data(f([3, 4, 5]), slice_shape=True); p
p = Parameter(f([1, 2]), name='w'); p.set_data(i([3, 4])); p
p = Parameter(i([1, 2]), name='w'); p.set_data(f([3, 4])); p
p = Parameter(f([1, 2]), name='w'); p.set_data(h([3, 4])); p
p = Parameter(f([1, 2]), name='w'); p.set_dtype(ms.float16); p
p = Parameter(f([1, 2]), name='w'); p.assign_value(f([3, 4])); p
p = Parameter(f([1, 2]), name='w'); ops.assign(p, f([3, 4])); p
p = Parameter(f([1, 2]), name='w'); ops.assign(p, 3); p
p = Parameter(f([1, 2]), name='w'); ops.assign_add(p, f([3, 4])); p
p = Parameter(f([1, 2]), name='w'); ops.assign_sub(p, 1.0); p
p = Parameter(f([1, 2]), name='w'); p += 1; p
p = Parameter(f([1, 2]), name='w'); p + 1
p = Parameter(f([1, 2]), name='w'); p.value()
p = Parameter(f([1, 2]), name='w'); p.clone().name
p = Parameter(f([1, 2]), name='w'); p.clone('zeros')
p = Parameter(f([1, 2]), name='w'); p.clone(init='ones')
p = Parameter(f([1, 2]), name='w'); p.data
p = Parameter(f([1, 2]), name='w'); p.astype(ms.int32)
p = Parameter(f([1, 2]), name='w'); p.asnumpy()
p = Parameter(f([1, 2]), name='w'); p.T
p = Parameter(f([1, 2]), name='w'); p.copy()
p = Parameter(f([1, 2]), name='w'); p.param_info is not None
p = Parameter(f([1, 2]), name='w'); p.layerwise_parallel
p = Parameter(f([1, 2]), name='w'); p.comm_fusion
p = Parameter(f([1, 2]), name='w'); p.parallel_optimizer
p = Parameter(f([1, 2]), name='w'); p.unique
p = Parameter(f([1, 2]), name='w'); p.cache_enable
p = Parameter(f([1, 2]), name='w'); p.key
p = Parameter(f([1, 2]), name='w'); p.inited_param
p = Parameter(f([1, 2]), name='w'); p.is_init
p = Parameter(f([1, 2]), name='w'); p.sliced
p = Parameter(f([1, 2]), name='w'); isinstance(p, Tensor)
p = Parameter(f([1, 2]), name='w'); p.init_data() is p
ms.ParameterTuple([Parameter(f([1]), name='a'), Parameter(f([2]), name='b')])
ms.ParameterTuple([Parameter(f([1]), name='a')]).clone('x')[0].name
ms.COOTensor(i([[0, 1], [1, 2]]), f([1, 2]), (3, 4)).to_dense()
ms.COOTensor(i([[0, 1], [1, 2]]), f([1, 2]), (3, 4)).shape
ms.COOTensor(i([[0, 1], [1, 2]]), f([1, 2]), (3, 4)).values
ms.CSRTensor(i([0, 1, 2]), i([0, 1]), f([1, 2]), (2, 4)).to_dense()
ms.CSRTensor(i([0, 1, 2]), i([0, 1]), f([1, 2]), (2, 4)).to_tuple()
ms.CSRTensor(i([0, 1, 2]), i([0, 1]), f([1, 2]), (2, 4)).values
ms.RowTensor(i([0]), f([[1, 2]]), (3, 2)).values
ms.dtype_to_nptype(ms.int8)
ms.pytype_to_dtype(int)
ms.pytype_to_dtype(float)
ms.get_py_obj_dtype(1)
ms.get_py_obj_dtype(1.5)
ms.get_py_obj_dtype(f([1]))
ms.get_seed()
ms.set_seed(-1)
ms.set_seed(1.5)
ms.mutable(5)
ms.mutable((1, 2))
ms.mutable([f([1]), 2])
ms.get_context('mode')
ms.get_context('device_target')
ms.get_context('nope')
ms.set_context(mode=3)
ms.set_context(nope=1)
ms.get_auto_parallel_context('parallel_mode')
ms.get_auto_parallel_context('device_num')
ms.get_auto_parallel_context('gradients_mean')
ms.GRAPH_MODE
ms.ParallelMode.MODE_LIST
ms.jit(lambda x: x + 1)(f([1]))
ms.grad(lambda x: x ** 2)(f([3]))
ms.grad(lambda x: ops.sum(x ** 3))(f([1, 2]))
ms.value_and_grad(lambda x: ops.sum(x ** 2))(f([1, 2]))
ms.grad(lambda x, y: ops.sum(x * y), (0, 1))(f([1, 2]), f([3, 4]))
ms.grad(lambda x, y: ops.sum(x * y), 1)(f([1, 2]), f([3, 4]))
ms.grad(lambda x: (ops.sum(x), x), has_aux=True)(f([1, 2]))
ms.value_and_grad(lambda x: (ops.sum(x), x), has_aux=True)(f([1, 2]))
ms.jvp(lambda x: x ** 2, f([1, 2]), f([1, 1]))
ms.vjp(lambda x: x ** 2, f([1, 2]))[0]
ms.vmap(lambda x: x + 1)(X(2, 3))
ms.vmap(lambda x, y: x * y, (0, None))(X(2, 3), X(3))
ms.grad(lambda x: x.sum())(i([1, 2]))
ops.grad(lambda x: x * x)(f(2))
ops.GradOperation()(lambda x: x * x)(f(2))
ops.GradOperation(get_all=True)(lambda x, y: x * y)(f(2), f(3))
ops.GradOperation(sens_param=True)(lambda x: x * x)(f(2), f(10))
""")

CASES = [*cases(), *OTHER]
