#!/usr/bin/env python3
"""Writes tests/python/expectations/audio.json with the real MindSpore (made with 2.10.0, CPU, numpy<2). Calls that fail there are omitted; the reason is
printed
to standard error."""
import json
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)

import audio_cases  # noqa: E402
import mindspore.dataset.audio as audio  # noqa: E402

found = {}
for case in audio_cases.CASES:
    try:
        found[case] = audio_cases.plain(eval(case, audio_cases.names(audio)))
    except Exception as e:
        print(f"{case}: {type(e).__name__}: {' '.join(str(e).split())[:300]}", file=sys.stderr)
with open(os.path.join(TESTS, "expectations", "audio.json"), "w", encoding="utf-8") as out:
    out.write("{\n" + ",\n".join(f"{json.dumps(c)}: {json.dumps(v)}" for c, v in found.items()) + "\n}\n")
print(f"{len(found)} of {len(audio_cases.CASES)} calls")
