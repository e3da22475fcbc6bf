"""Optimizers for three steps, with groups, decay and schedules; schedules and functions that return lists of rates; clipping; loss scaling."""
from . import lines

OPTIMIZERS = {
    "SGD": ("", "0.1, 0.9", "0.1, 0.9, 0.1", "0.1, 0.9, 0.0, 0.01", "0.1, 0.9, 0.0, 0.0, True", "0.1, weight_decay=0.1", "0.1, loss_scale=2.0", "nn.CosineDecayLR(0.01, 0.1, 4), 0.9",
            "[0.1, 0.2, 0.3]", "f(0.1)", "0.1, 0.9, 0.5, 0.0, True", "-1.0", "1"),
    "Momentum": ("0.1, 0.9", "0.1, 0.9, 0.01", "0.1, 0.9, 0.01, 2.0", "nn.ExponentialDecayLR(0.1, 0.9, 2), 0.9", "f([0.1, 0.2, 0.3]), 0.9", "0.1, 0.0", "0.1, -1.0", "0.1"),
    "Adam": ("", "0.1", "0.1, 0.8, 0.9, 1e-3", "0.1, weight_decay=0.01", "0.1, use_nesterov=True", "0.1, use_amsgrad=True", "0.1, loss_scale=2.0", "0.1, use_locking=True", "0.1, beta1=1.0",
             "nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)", "0.1, use_lazy=True"),
    "AdamWeightDecay": ("", "0.1", "0.1, 0.8, 0.9, 1e-3, 0.01"), "LazyAdam": ("0.1", "0.1, weight_decay=0.01", "0.1, use_nesterov=True"),
    "Adagrad": ("", "0.5", "accum=0.5, learning_rate=0.1", "learning_rate=0.1, weight_decay=0.1", "update_slots=False"),
    "Adadelta": ("", "1.0, 0.5, 1e-3", "0.5, weight_decay=0.1"), "AdaMax": ("", "0.1, 0.8, 0.9, 1e-3", "0.1, weight_decay=0.1"),
    "RMSProp": ("", "0.1", "0.1, 0.8", "0.1, 0.8, 0.5, 1e-3", "0.1, centered=True", "0.1, 0.9, 0.5, centered=True", "0.1, weight_decay=0.1"),
    "FTRL": ("", "0.2, 0.01", "learning_rate=0.01, l1=0.1, l2=0.1", "lr_power=-0.4", "weight_decay=0.1", "0.1, 0.001, 0.0"), "Lamb": ("0.1", "0.1, 0.8, 0.9, 1e-3, 0.01", ""),
    "ProximalAdagrad": ("", "0.2, 0.01, 0.1, 0.1"), "ASGD": ("", "0.05, 1e-3"), "Rprop": ("", "0.05, (0.4, 1.3)"), "AdamOffload": ("0.1",), "AdaFactor": ("learning_rate=0.1",),
}
GROUPS = ("[{'params': p[:1], 'lr': 0.05}, {'params': p[1:]}]", "[{'params': p[:1], 'weight_decay': 0.1}, {'params': p[1:]}]",
          "[{'params': p[:1], 'weight_decay': 0.1, 'lr': 0.3}, {'params': p[1:], 'grad_centralization': True}]", "[{'params': p[1:]}, {'params': p[:1], 'lr': 0.2}, {'order_params': p}]",
          "[{'params': p}, {'params': p}]", "[{'param': p}]", "[]", "[{'params': []}]", "p + p", "[1, 2]")
SCHEDULES = lines("""
nn.CosineDecayLR(0.01, 0.1, 4)
nn.ExponentialDecayLR(0.1, 0.9, 4)
nn.ExponentialDecayLR(0.1, 0.9, 4, True)
nn.InverseDecayLR(0.1, 0.9, 4)
nn.InverseDecayLR(0.1, 0.9, 4, is_stair=True)
nn.NaturalExpDecayLR(0.1, 0.9, 4)
nn.NaturalExpDecayLR(0.1, 0.9, 4, True)
nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)
nn.PolynomialDecayLR(0.1, 0.01, 4, 2.0, True)
nn.WarmUpLR(0.1, 2)
nn.WarmUpLR(0.1, 0)
nn.CosineDecayLR(0.1, 0.01, 4)
nn.PolynomialDecayLR(0.1, 0.2, 4, 0.5)
""")
OTHER = lines("""
nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)
nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)
nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, True)
nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1, True)
nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2)
nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)
nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])
nn.piecewise_constant_lr([2, 5], [0.1])
nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)
nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5, True)
nn.warmup_lr(0.01, 12, 2, 2)
nn.warmup_lr(0.01, 12, 2, 20)
nn.cosine_decay_lr(0.1, 0.01, 6, 2, 2)
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.get_lr()
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o((X(2, s=1),)); o.get_lr()
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, [0.1, 0.2], 0.9); (o.get_lr(), o.get_lr(), o.global_step)
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, [0.1, 0.2], 0.9); o((X(2, s=1),)); (o.get_lr(), o.global_step)
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, nn.ExponentialDecayLR(0.1, 0.5, 1), 0.9); o((X(2, s=1),)); o.get_lr()
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Adam(p, 0.1); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Adam(p, 0.1, use_amsgrad=True); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.SGD(p, 0.1, 0.9); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.RMSProp(p, 0.1); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Adagrad(p); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.FTRL(p); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Adadelta(p); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.AdaMax(p); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Lamb(p, 0.1); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.AdamWeightDecay(p, 0.1); [(q.name, list(q.shape)) for q in o.get_parameters()]
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.learning_rate
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.get_lr_parameter(p)
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9, 0.5); o.get_weight_decay()
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.loss_scale
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.is_group
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o.unique
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o((X(3, s=1),))
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o((X(2, s=1), X(2, s=2)))
p = [Parameter(X(2), name='a', requires_grad=False)]; nn.Momentum(p, 0.1, 0.9)
p = [Parameter(X(2), name='a')]; o = nn.Momentum(p, 0.1, 0.9); o((X(2, s=1).astype(ms.float16),)); p[0]
p = [Parameter(X(2).astype(ms.float16), name='a')]; o = nn.Adam(p, 0.1); o((X(2, s=1).astype(ms.float16),)); p[0]
p = [Parameter(X(2), name='a')]; o = nn.Adam(p, 0.1); o((f([nan, 1]),)); p[0]
p = [Parameter(X(2), name='a')]; o = nn.LARS(nn.Momentum(p, 0.1, 0.9)); o((X(2, s=1),)); p[0]
p = [Parameter(X(2), name='a')]; o = nn.LARS(nn.Momentum(p, 0.1, 0.9), coefficient=0.1, use_clip=True); o((X(2, s=1),)); p[0]
p = [Parameter(X(2), name='a')]; o = nn.SGD(p, 0.1); o.target
nn.DynamicLossScaleUpdateCell(1024, 2, 2).get_loss_scale()
m = nn.DynamicLossScaleUpdateCell(1024, 2, 2); s = Parameter(f(1024), name='s'); m(s, b(False)); m(s, b(False)); s
m = nn.DynamicLossScaleUpdateCell(1024, 2, 2); s = Parameter(f(1024), name='s'); m(s, b(True)); s
nn.FixedLossScaleUpdateCell(512).get_loss_scale()
ms.FixedLossScaleManager(128.0).get_loss_scale()
ms.FixedLossScaleManager().get_loss_scale()
ms.FixedLossScaleManager(128.0).get_drop_overflow_update()
ms.FixedLossScaleManager(128.0, False).get_update_cell()
ms.DynamicLossScaleManager().get_loss_scale()
m = ms.DynamicLossScaleManager(1024, 2, 1); m.update_loss_scale(True); m.get_loss_scale()
m = ms.DynamicLossScaleManager(1024, 2, 1); m.update_loss_scale(False); m.get_loss_scale()
s = ms.amp.StaticLossScaler(8.0); s.scale(f(2))
s = ms.amp.StaticLossScaler(8.0); s.unscale(f([16]))
s = ms.amp.DynamicLossScaler(1024, 2, 1); s.adjust(b(True)); s.scale_value
s = ms.amp.DynamicLossScaler(1024, 2, 1); s.adjust(b(False)); s.scale_value
ms.amp.all_finite([f([1, 2]), f([3])])
ms.amp.all_finite([f([1, nan])])
ms.amp.get_white_list()
ms.amp.get_black_list()
""")


def cases():
    for name, all_arguments in OPTIMIZERS.items():
        for arguments in all_arguments:
            yield f"train(lambda p: nn.{name}(p{', ' if arguments else ''}{arguments}))"
        if name in ("Momentum", "Adam", "SGD"):
            for group in GROUPS:
                yield f"train(lambda p: nn.{name}({group}, 0.1{', 0.9' if name == 'Momentum' else ''}, weight_decay=0.01))"
    for schedule in SCHEDULES:
        for step in ("i(0)", "i(1)", "i(3)", "i(9)"):
            yield f"{schedule}({step})"


CASES = [*cases(), *OTHER]
