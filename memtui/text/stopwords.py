"""Word lists: stop words and other words that carry little information."""

import re


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a about after again all also am an and any are aren't as at be because been before
    being both but by can can't cannot could couldn't did didn't do does doesn't doing
    don't down during each even every few for from further get gets getting go going got
    had has hasn't have haven't having he hello her here hers hey hi him his how i i'd
    i'll i'm i've if in into is isn't it it's its itself just let let's like lot many me
    more most much my myself no nor not now of off oh ok okay on once one only or other
    our ours out over own please really same she should shouldn't so some still such
    sure than thank thanks that that's the their theirs them then there there's these
    they they're thing things this those through to too uh um under until up upon us
    very was wasn't we we'll we're we've well were weren't what what's when where which
    while who whom whose why will with within without won't would wouldn't yeah yes yet
    you you'll you're you've your yours yourself der die das den dem des ein eine einen
    einem einer und oder aber nicht ist sind war ich du er wir ihr mit von zu im auf für
    bei auch noch dass es als wie wird le la les un une et ou est que qui dans pour sur
    pas ne ce il elle nous vous el los las una y o por para con del se lo
    """
)
"""Words that are not indexed, in several languages."""

GENERIC_WORDS = word_set(
    """
    aber above absolutely actual actually add added added. adding additional agent
    ahhhh allow already another answer anything appear appears approach appropriate
    appropriately ask asked asking assigned assistant async automatically available
    await back based bash basic basically been behind below better between beyond
    big bin bit both build bunx call called cannot case cat cause change changed
    changes check checking class claude clean cleaning clear close code com command
    commit committed complete completed completely comprehensive conditionally const
    contain containing contains content contents context continue continued
    conversation correct correctly could create created creating critical crucial
    current currently data default deleting detailed details dev different directly
    directory dist documents doing don't done easily echo edit edited editing edits
    effective efficient efficiently either else end enhance enhanced enhancement
    enhancements ensure eof error errors especially etc everything exact exactly
    examine example excited exist existing exit expected expects explain explained
    explicit explicitly export fail failed failing fails failures false feature few
    file file's files final finally find first fix fixed fixes fixing focused follow
    follow-up following found full fully func function functionality git github give
    given glob goes good great grep handle handled handles handling head help here
    high home however http https i'll identified identify immediately implement
    implementation implemented implementing implicitly import import: important
    improvement improvements incl include including indeed index info input instead
    interface interpreted introduced issue issues item items key kind know landed
    last later latest left less let's level lib likely line line: lines list
    locations long longer look looking looks low made main make makes making may
    maybe means mentioned message method might missing modified move moved multiple
    must name need needed needs never new next nice node_modules non none note
    nothing npx null number object obvious often okay old one's oneline onto open
    option optionally order org others output overall part pass passed passes
    passing path pedantic per perfect perhaps perspective perspectives place plan
    please point possible pre-existing previous previously print probably problem
    proceed project proper properly properties provide public put quick quickly
    quite rather read ready real really recommendation recommendations recommended
    relevant remaining remove removed removing renamed replace replaced reply
    request required resolved response result result: results return returns review
    right robust rtk run running same save second section see seems set setup
    several shall should show shows side sie similar simple since sind single size
    small someone something sometimes soon specialized specific src standard start
    started state statement status stay stderr stdout step steps still string stuff
    success successful successfully successfully. such summarize summary sure system
    take takes task tasks tell test tested testing tests text therefore thing think
    thoroughly though three time times tmp tmp/ todo todos todowrite together tool
    top total touching toward tries true try turn two type types ultrathink
    undefined under understand understanding unless unrelated update updated
    updated. updated: updates updating use used user user's users uses using usr
    usually value values var various verified verify verifying version wait want
    wants way wc webfetch whether whole work working works would write writing
    written wrong www xargs yet you're
    """
)
"""Words too common in programming to be keywords."""

FUNCTION_WORDS = word_set(
    """
    achter adonde adónde afin agli agora ahora ainda alcuni algo algum alguma
    algumas algunas alguno algunos alguns algún alla alle alleen allem allen aller
    alles allo allora alors altijd anche ancora ander andere anderen anders antes
    apenas après aquel aquela aquele aquella aquellas aquello aquellos aquilo aquí
    así através até aucun aucune aufs aujourd'hui aunque aussi autre autres aux
    avaient avait avant avec avere aveva avevano avez avoir avons aún bajo beide
    beim bist bitte c'est c'è cada cela celle celles celui ces cette ceux chaque
    chez cioè combien comme comment como contra cosa cosi così cual cuales cualquier
    cuando cuanta cuantas cuanto cuantos cujo cuál cuáles cuándo cuánta cuántas
    cuánto cuántos cómo d'un d'une daar daarom dabei dadurch dafür dagegen dagli
    daher dalla dalle damit danach dann daran darauf daraus darf darin darum
    darunter dazu debe debemos deben debería degli dein deine deinem deinen deiner
    deja dela dele deles dell della delle dello denen denn depois depuis deren
    derselbe desde deshalb dessa desse dessen desta deste devait deve devem devo
    devons deze dich diese dieselbe diesem diesen dieser dieses disso doch doen doit
    donc donde dont dopo dort dunque durante durch durfte déjà dónde ebenfalls eens
    eerst eigentlich einmal elas eles elke ellas elles ellos encore entonces entre
    então eran erano eras eres es-tu esas esos essa essas esse essere esses est-ce
    est-il esta estaba estaban estado estamos estar estas este estes esto estos está
    están estás estão etwas euch euer eure eux faire fait faut fazer fino foram fue
    fueron furent geben geen gegen geweest gewesen gibt già gracias haar habe haben
    habt había habían hace hacemos hacer hacia hanno hast hasta hat hatte hatten
    hattest hattet hebben hebt heeft hemos hinter hizo hoe hoelang hoeveel ieder
    iets ihm ihn ihnen ihre ihrem ihren ihrer ihres immer irgendwie isso isto j'ai
    jede jedem jeden jeder jedes jemals jemand jene jetzt jouw jullie jusque já kan
    kann kannst kon konnte konnten kunnen können könnte könnten l'on laquelle lassen
    lequel lesquelles lesquels leur leurs loro lors lorsque luego lui là maar machen
    macht mais manche meer mehr mein meine meinem meinen meiner meno mentre mes
    mesmo meus mich miei mientras mijn minha mir misma mismo moet moeten moins molto
    mucho muito muss musst musste mussten muy más même mêmes möchte müssen n'est
    naar nach neben nein nella nelle nello nenhum nichts nie niemand niet niets
    ninguna ninguno ningún nog nos nosotros nossa nossas nosso nossos nostra nostre
    nostri nostro notre nuestra nuestras nuestro nuestros numa nun nunca nur não nós
    ob oben obwohl ogni ohne omdat onde onder onze oppure otra otras otro otros
    outra outro où parce parmi pela pelas pelo pelos pendant perché perciò pero però
    peut peuvent più plusieurs poco pode podem podemos pois porque porquê possiamo
    posso pourquoi pouvait pouvons puede pueden pues puis puisque può qu'est
    qu'est-ce qu'il qu'on quais qual qualche quale quali quand quando quanta quantas
    quante quanti quanto quantos quel quella quelle quelles quelli quello quelque
    quelques quels quem questa queste questi questo quien quienes quindi quién
    quiénes quoi qué reeds sans sarà schon según sehr seid sein seine seinem seinen
    seiner seit seja sempre senza serait será ses seulement seus sich sido siempre
    sino sobre sogar soit soll sollen sollte sollten somit sommes somos sondern sono
    sonst sont sopra sotto sous sowie stata stati stato statt suas sugli suis sulla
    suoi são sí só sólo también também tampoco tandis tanto tegen telle temos
    tenemos tener tenía tes tiene tienen tinha toch toda todas todavía toen toujours
    tous toute toutes tras trop trotz trotzdem très tudo tussen tutta tutte tutti
    tutto tuvo té unas unos uns unser unsere unserem unseren unserer unter usted
    ustedes vamos vanaf veel vers viel viele você vocês vom voor vos vostra vostro
    votre waar waarom waarvoor wann wanneer waren warst warum weer wegen weil weiter
    welche welchem welchen welcher welches welk welke wem wen wenn wer werd werde
    werden weshalb wessen wieder wieso wieviel wieviele wij willst wo wobei wodurch
    wofür woher wohin womit wonach woran worauf woraus worden wordt worin worum
    worüber wovon wozu wurde wurden während würde würden y-a-t-il zelf zich zij zijn
    zoals zonder zouden zum zur zwar zwischen à às ça è é él éramos étaient étais
    était été être über
    а без будем будет буду будут бы был была были было быть в вам вас ваш весь во
    вот все всем всех всю вся всё вы выбрал выбрала выбрали выбрать где да давай
    давайте для до должен должна должно должны его ему если есть ещё же за зачем
    здесь и из или к как какая какие каким какими каких какого какое какой каком
    какому какую кем ко когда кого кому которая которого которое которой котором
    которому которую которые который которым которыми которых кто куда ли либо между
    меня мне могу можем может можете можешь можно мой мою моя моё мы на надо нам нас
    насколько наш наша наше не него ней нет никто ним ними ничего но ну нужен нужна
    нужно нужны о об один одна одно она они оно опять от откуда отчего очень перед
    по под пожалуйста пока после посмотри потом потому почему поэтому при про просто
    решил решила решили с сам сама сами само свои свой свою сделай сделать себе себя
    сейчас скольких сколько снова со спасибо так такая также такие такое такой там
    твой тебя теперь тех тогда того тоже той только том тот ты у уже хотя чего чей
    чем чему через что чтоб чтобы чье чьего чьей чьему чьи чьим чьих чья чьё эта эти
    этим этих это этого этой этом этот эту я
    """
)
"""Words of German, French, Spanish, Portuguese, Italian, Dutch and Russian that
connect, point or ask, without short ones that mean something else in English."""

VAGUE_WORDS = word_set(
    """
    activity actually already anything best bit bring bug changed chat choice choose
    chose chosen conversation conversations currently decide decided decision decisions
    detail details did discuss discussed discussing discussion discussions done earlier
    else eventually ever everything exactly explain explained finally find fix fixed
    happen happened happening help history info information initially issue issues item
    items kind know last lately lot may memories memory mention mentioned
    might new next normally note notes often originally overview past people please
    previously problem problems progress project projects question questions reason
    reasons recall recap recent recently remember remind said saw say see seen session
    sessions show something sort status stuff subject summarize summary talk talked tell
    thing things think thought today told topic topics tried try trying update updates
    use used usually want wanted way week work worked working works wrote
    """
)
"""Words that any question may contain and that say nothing about its topic."""

ASKING_WORDS = word_set(
    """
    discuss discussed discussing mention mentioned recall remember remind said saw say
    see seen talk talked tell told
    """
)
"""Vague words that ask for what was said: "what did we discuss about retries"."""

HAN_FUNCTION_WORDS = re.compile(
    "[\u3041-\u309f]+"
    "|我们|你们|他们|它们|这个|那个|这些|那些|这样|什么|怎么|如何|如果|因为|所以|但是|而且"
    "|或者|还是|以及|然后|已经|可以|应该|需要|能够|没有|不是|就是|是不是|这里|那里|这列|一下"
    "|一个|一些|进行|通过|实际上|请你|知道|是否|不再|统一|的话|[的了是我你您她它这那吗呢吧啊"
    "就也都把被很请想做]"
)
"""Function words and endings that separate the content words of Chinese and
Japanese."""

KOREAN_FUNCTION_WORD = re.compile(
    r"(?:그리고|하지만|그래서|그런데|그러나|그러면|그리고는|또는|또한|그래도|만약|왜냐하면"
    r"|이것|그것|저것|여기|거기|이거|그거|우리|저희|제가|내가|네가|무엇|무슨|어떤|이런|그런|모든"
    r"|누가|누구|뭐|뭘|언제|어디|어느|얼마|얼마나|어째서|몇|몇번|번|어떻게|이렇게|그렇게|같이|함께|지금|다시|아직|이미|바로|그냥|조금|정말|아주|매우|계속|자꾸"
    r"|경우|때문|정도|대한|위한|통해|따라|네|예|왜|좀|더|잘|안|못)"
    r"(?:은|는|이|가|을|를|에|에서|에게|부터|까지|도|의|만|로|으로)?"
    r"|.*(?:니다|세요|어요|아요|해요|에요|예요|까요|네요|군요|나요|는데|지만|면서|려고|도록|어서"
    r"|아서|해서|하고|하면|하게|되어|되는|하는|있는|없는|있어|없어|했던|었던|한다|된다|었다|았다"
    r"|했다|그런지|인지|는지|해|줘|줄래)"
)
"""Korean words that connect, point or ask, and verbs by their endings."""


def is_function_word(word: str) -> bool:
    """Return whether a word of another language says nothing about a topic."""
    return word in FUNCTION_WORDS or bool(KOREAN_FUNCTION_WORD.fullmatch(word))


KOREAN_PARTICLE = re.compile(
    r"(?:(?<=\w)(?:에서는|에서|에게|에는|으로|까지|부터|처럼|보다)"
    r"|(?<=\w\w)(?:은|는|이|가|을|를|에|로|와|과|도|의|만))$"
)
"""The particle of a Korean noun; of one syllable, it may be part of a short noun."""

NARRATION_STEMS = word_set(
    """
    answer ask assistant confirm convers discuss explain mention note repli request said
    sai suggest tell told user
    """
)
"""Stems with which a summary says who spoke; they come from the summary, not the
source."""

NEGATIONS = word_set(
    """
    not never cannot without neither nor no none nothing nobody unable hardly barely
    scarcely nicht nie niemals kaum ohne weder nichts kein keine keinen keinem keiner
    keines
    """
)
"""Words that negate what follows them, besides those ending in "n't"."""
