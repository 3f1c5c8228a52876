# expect: wrong_result numerics.wrong_values
def solution(logits, temperature):
    return logits.argmax(-1)
