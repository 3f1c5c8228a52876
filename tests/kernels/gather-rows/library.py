# expect: suspect
def solution(table, index):
    return table.index_select(0, index)
