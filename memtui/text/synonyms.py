"""Words of the same meaning, and words that mean little, for comparing a summary with
its source."""

from memtui.text.analyzer import stem
from memtui.text.stopwords import GENERIC_WORDS, VAGUE_WORDS

_GROUPS = """
    accept agree allow permit
    add added include introduce insert append
    advise advice recommend suggest propose
    alter change modify adjust edit revise touch
    answer reply respond response
    appear seem look
    ask request
    begin start launch
    initial first
    big large huge
    bug defect error failure issue problem fault
    build implement
    call invoke
    check verify examine inspect test
    choose chose pick select decide
    combine merge join unite
    complain complaint report
    complete finish solve done
    create make generate produce build
    delete remove drop erase
    describe explain
    different vary distinct
    discard drop abandon
    display show present print
    deliver return give send
    dispatch trigger
    end close finish
    fast quick rapid
    fix repair correct resolve solve
    fail crash break abort
    stop halt abort
    grow rise increase raise climb
    reduce decrease lower shorten
    hold keep retain preserve retention
    need require must necessary
    obtain get receive fetch
    old former previous stale outdated
    operate run execute
    plan schedule intend
    prefer favourite favorite rather
    propose sketch outline
    reason cause because since
    repeat retry again
    approach method way scheme
    worry fear afraid concern
    deliberate intentional purpose
    replace substitute swap exchange switch
    remain stay keep
    roll revert undo
    slow slower
    split cut divide
    store save record write
    switch move migrate change shift
    tell say mention state
    treat classify consider
    try tried attempt
    update upgrade
    use employ utilize
    want wish like
    whole entire all full complete
    write draft
    configure configuration config set
    database db
    directory folder dir
    document documentation docs doc
    environment env
    function fn
    parameter param argument arg
    repository repo
    application app
    authentication auth
    message msg
    mail e-mail email
    photo picture image
    roughly about approximately around
    small little
    child kid
    allergic allergy
    annoy bother
    assist help support
    assume suppose
    attach append
    ban forbid block deny refuse
    blank empty
    boss manager supervisor
    buy purchase
    cancel drop
    cause lead
    cheap inexpensive
    colleague coworker
    come arrive
    compare comparison
    confirm verify
    connect link join
    costly expensive
    cost price
    crash die
    deactivate disable
    activate enable
    defer delay postpone
    deploy release ship publish rollout
    detect notice spot discover find
    discuss talk
    duplicate double twice
    enough sufficient
    expand extend enlarge
    explicit clear
    film movie
    finding result
    forget miss omit
    frequent often
    gather collect
    guard protect
    happen occur
    holiday vacation
    host server machine computer
    identical same equal
    inform notify alert warn
    inspect look view
    invalid wrong incorrect
    job task work
    journey trip travel
    kind type sort
    learn study
    limit restrict bound
    locate find
    main primary principal
    mistake typo error
    monitor watch track
    must oblige
    near close
    own have
    pause wait
    pick take
    performance latency speed
    press click
    proof evidence
    quit exit leave
    rare seldom
    raw uncooked
    reach get arrive
    reformat format
    regenerate recreate
    rerun retry
    right correct
    run go
    search look seek
    separate split
    shop store
    skip omit ignore
    solution fix answer
    speak talk interview
    steer drive
    strange odd weird
    team group
    think believe
    throw raise
    translate convert
    turn become
    uninstall remove
    unused idle
    useful helpful
    visible shown
    wrap enclose
    bump upgrade raise
    easy simple
    flaky unstable
    hang freeze
    lag delay behind
    obsolete deprecated
    port migrate
    refactor restructure rework rewrite
    tell inform notify
    try test
"""


def _group_by_stem() -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        stems = [stem(word) for word in line.split()]
        for one in stems:
            found.setdefault(one, set()).update(stems)
    return {one: tuple(sorted(others - {one})) for one, others in found.items()}


SYNONYMS = _group_by_stem()
"""Stems, each with the stems of words that may mean the same."""

COMMON_STEMS = frozenset(map(stem, GENERIC_WORDS | VAGUE_WORDS))
"""Stems of words that say little about a topic."""
