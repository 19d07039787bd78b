"""Irregular forms of English words, which no rule for endings brings together.

Forms that are words of their own as often are absent on purpose: left, found, saw,
rose, bore, lay, bound, bit, shot, led, lives, leaves, better, done.
"""

# Each line: a base form, then its irregular forms.
_FORMS = """
arise arose arisen
awake awoke awoken
bear borne
beat beaten
become became
begin began begun
bend bent
bite bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
child children
choose chose chosen
cling clung
come came
creep crept
crisis crises
data datum
deal dealt
dig dug
draw drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
flee fled
fly flew flown
foot feet
forbid forbade forbidden
foresee foresaw foreseen
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go goes went gone
goose geese
grow grew grown
half halves
hang hung
hear heard
hide hid hidden
hold held
index indices
keep kept
knife knives
know knew known
lay laid
lean leant
learn learnt
lend lent
loaf loaves
lose lost
make made
man men
matrix matrices
mean meant
meet met
mistake mistook mistaken
mouse mice
outgrow outgrew outgrown
overcome overcame
override overrode overridden
overtake overtook overtaken
overwrite overwrote overwritten
ox oxen
pay paid
person people
prove proven
rebuild rebuilt
redo redid redone
rerun reran
rewrite rewrote rewritten
ride rode ridden
ring rang
rise risen
run ran
say said
see seen
seek sought
sell sold
send sent
shake shook shaken
shelf shelves
shine shone
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
string strung
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
thief thieves
think thought
throw threw thrown
tooth teeth
understand understood
undertake undertook undertaken
undo undid undone
uphold upheld
vertex vertices
wake woke woken
wear wore worn
weave wove woven
weep wept
wife wives
win won
withdraw withdrew withdrawn
withhold withheld
wolf wolves
woman women
write wrote written
"""

BASES: dict[str, str] = {
    form: base
    for base, *forms in map(str.split, _FORMS.strip().splitlines())
    for form in forms
}
