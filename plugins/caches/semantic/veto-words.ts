// What the veto knows about words. English mostly; of other languages only enough to know them, and their words of negation.

const words = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== '');
const setOf = (text: string): ReadonlySet<string> => new Set(words(text));

/** Words that carry no meaning of their own in a question. `languages[0]` is the one whose grammar the veto knows. */
export const functionWords: Readonly<Record<string, ReadonlySet<string>>> = {
  en: setOf(`a an the of in on at for with by to from into as and or is are am be been being was were do does did has have had having i me we us you it its he him
    she they them this that these those there here my our your his her their mine yours what which who whom whose when where why how can could may might
    would should shall will must please if whether so then about up out per using via vs than some any one also just very really s t m re ve ll d get got
    upon within through during between among over under`),
  de: setOf(`der die das den dem des ein eine einen einem einer und oder ist sind war waren ich du er sie es wir ihr mein meine meinen mich mir dich dir was wer wie wo wann
    warum welche welcher welches kann kannst soll muss zu von mit für auf aus bei nach im in am an zum zur sich bitte`),
  fr: setOf(`le la les un une des du de et ou est sont je tu il elle nous vous mon ma mes quelle quel quels quelles que qui comment où quand pourquoi puis peux dans sur avec
    pour par en au aux ce cette se l d qu`),
  es: setOf(`el la los las un una y o es son yo tú mi mis su sus qué cuál cuáles quién cómo dónde cuándo por para con en de del al puedo se que me te lo`),
  it: setOf(`il lo la i gli le un una e o è sono io tu mio mia qual quale quali che chi come dove quando perché posso di del della con per in a da dimmi si`),
  pt: setOf(`o a os as um uma e ou é são eu meu minha qual quais que quem como onde quando por para com em de do da no na posso se`),
};

/** Ways of asking and being polite: they may come and go. */
export const fillers = setOf(`please kindly explain tell give show describe say mean meaning definition define want need like know way ways step steps process method thing best
  good possible help let lets hi hello hey thanks thank ok okay can possibly quick quickly easy easily actually exactly kind sort located lie lies exist exists want
  wondering question answer wish trying try go going use used using write draft do doing
  calculate compute required require requires`);

/** Verbs of asking that are the point of a question when there is little else. */
export const commands = setOf('write draft translate convert summarise summarize plan');

export const negations = setOf(`not no never none nobody nothing nowhere neither nor cannot without cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt
  havent hadnt mustnt neednt nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais sans aucun aucune nunca sin ningún ninguna ningun non mai senza
  nessun nessuna não nao nunca sem nenhum nenhuma lack lacks lacking except excluding exclude`);

/** Spelled in several words, meant as one. Applied to lower-case text with single spaces. */
export const phrases: readonly (readonly [string, string])[] = [
  ['united states of america', 'usa'], ['united states', 'usa'], ['u.s.', 'usa'], ['united kingdom', 'uk'], ['great britain', 'uk'], ['two factor authentication', '2fa'],
  ['two factor auth', '2fa'], ['multi factor authentication', 'mfa'], ['world war ii', 'ww2'], ['world war two', 'ww2'], ['second world war', 'ww2'],
  ['world war i', 'ww1'], ['world war one', 'ww1'], ['first world war', 'ww1'], ['wi fi', 'wifi'], ['e mail', 'email'], ['get in touch with', 'contact'],
  ['get in touch', 'contact'], ['log in', 'login'], ['sign in', 'login'], ['log on', 'login'], ['log out', 'logout'], ['sign out', 'logout'], ['sign up', 'register'],
  ['turn on', 'enable'], ['switch on', 'enable'], ['turn off', 'disable'], ['switch off', 'disable'], ['set up', 'setup'], ['get rid of', 'remove'],
  ['free up', 'free'], ['instead of', 'instead'], ['to other countries', 'abroad'], ['in other countries', 'abroad'], ['double sided', 'duplex'], ['two sided', 'duplex'],
  ['on both sides', 'duplex'], ['line by line', 'linewise'], ['as well as', 'and'], ['per day', 'daily'], ['each day', 'daily'], ['every day', 'daily'],
  ['a day', 'daily'], ['per month', 'monthly'], ['each month', 'monthly'], ['every month', 'monthly'], ['per year', 'yearly'], ['every year', 'yearly'],
  ['come out', 'be'], ['new york city', 'nyc'], ['artificial intelligence', 'ai'], ['operating system', 'os'], ['do i have to', 'should i'], ['do i need to', 'should i'],
  ['in case of', 'if'], ['in order to', 'to'], ['how come', 'why'], ['what for', 'why'], ['each and every', 'all'], ['a few', 'several'], ['a couple of', 'two'],
  ['per cent', 'percent'], ['square metres', 'sqm'], ['square meters', 'sqm'], ['at home', ''], ['all of the', 'all'], ['a lot of', 'many'], ['take place', 'happen'],
  ['look up', 'find'], ['find out', 'find'], ['fill out', 'fill'], ['fill in', 'fill'], ['hard drive', 'disk'], ['disk space', 'disk'], ['credit card', 'card'],
];

/** Words of one meaning in a question; the first of a line stands for all. Stems where the stemmer makes them. */
const synonymLines = `
remove delete erase eliminate drop
change update modify alter edit amend
make create build generate produce prepare produc generat creat prepar
find locate search see get obtain retrieve view locat retriev
begin start commence
end finish finally
buy purchase purchas
fix repair solve resolve troubleshoot solv resolv
parcel package shipment packag
delivery shipping deliver ship
cost price fee charge pric
large big huge
size big large
small little tiny
height high tall
length long
distance far
speed fast quick rapid
depth deep
weight heavy
age old
width wide
cause reason why lead caus
author writer write wrote written
painter paint painted
inventor invent
happy glad joyful
substitute replacement instead replace alternative substitut replac
check test verify determine determin whether
picture photo image photograph imag
phone telephone
film movie movi
car automobile automobil
doctor physician
ill sick
colour color
autumn fall
behaviour behavior
centre center
favourite favorite favourit favorit
organise organize organis organiz
summarise summarize summaris summariz summary
travel trip journey travell
sight attraction
kid child children
add insert append
disable deactivate deactivat
enable activate activat
refund reimbursement reimburse
treat treatment remedy cure therapy cur
symptom sign
advantage benefit pro advantag
disadvantage drawback con disadvantag
function method
compress zip
shortcut hotkey
neighbour neighbor border
currency money
language tongue languag
speak spoken talk
population inhabitant people
located location place position
accept accepted take tak
safe safely safety
requir required need necessary require
answer reply respond
dispatch send
luggage baggage luggag baggag
tap faucet
laptop notebook computer pc
several multiple multipl
all every whole entire
name call
calculate compute calculat comput much
list enumerate show
top first
fall collapse decline
idea suggestion suggest ide
folder directory
display screen
shop store
amount quantity
task job
application app
database db
kubernetes k8s
javascript js
typescript ts
postgres postgresql
kilometre kilometer km kilometr
`;

export const synonyms: ReadonlyMap<string, readonly string[]> = (() => {
  const groups = new Map<string, string[]>();
  for (const line of synonymLines.trim().split('\n')) {
    const members = words(line);
    for (const member of members) groups.set(member, [...groups.get(member) ?? [], members[0] ?? member]);
  }
  return groups;
})();

const antonymPairs = `
enable disable|activate deactivate|increase decrease|before after|more less|more fewer|buy sell|import export|on off|high low|highest lowest|higher lower|maximum minimum
max min|most least|best worst|better worse|good bad|open close|start stop|begin end|first last|upload download|encrypt decrypt|encode decode|lock unlock|install uninstall
ascending descending|asc desc|advantage disadvantage|pro con|gain lose|send receive|give take|give get|gave got|gave took|lend borrow|left right|up down|inside outside|in out|push pull|show hide|mute unmute
add remove|add subtract|multiply divide|plus minus|light dark|lighter darker|hot cold|warm cold|warmer colder|early late|earlier later|old new|old young|oldest newest|oldest youngest
large small|largest smallest|big small|biggest smallest|long short|longest shortest|fast slow|faster slower|fastest slowest|cheap expensive|cheaper expensive|cheapest expensive
rich poor|strong weak|hard easy|hard soft|easy difficult|full empty|win lose|pass fail|success failure|succeed fail|accept reject|accept decline|approve reject|allow deny|allow forbid
allow block|permit prohibit|legal illegal|valid invalid|possible impossible|active inactive|public private|male female|man woman|men women|boy girl|father mother|husband wife
brother sister|son daughter|king queen|north south|east west|northern southern|eastern western|summer winter|day night|morning evening|am pm|arrival departure|arrive depart|arrive leave
enter exit|enter leave|input output|read write|client server|frontend backend|horizontal vertical|row column|positive negative|inner outer|upper lower|top bottom|above below|over under
cause effect|cause prevent|cause treatment|symptom treatment|hypo hyper|hypoglycemia hyperglycemia|hypothyroidism hyperthyroidism|hypertension hypotension|always never|all none|every no|with without
include exclude|attach detach|connect disconnect|mount unmount|follow unfollow|subscribe unsubscribe|like dislike|love hate|remember forget|save delete|create delete|create destroy
deposit withdraw|debit credit|credit debit|income expense|profit loss|asset liability|bull bear|supply demand|rent buy|rent own|inhale exhale|birth death|born died|alive dead
employ fire|hire fire|join leave|zoom in|expand collapse|compress decompress|compress extract|zip unzip|pack unpack|wrap unwrap|undo redo|commit rollback|merge split|attack defend
ask answer|question answer|teacher student|parent child|employer employee|landlord tenant|buyer seller|sender recipient|yesterday tomorrow|yesterday today|today tomorrow|next last
next previous|past future|this last|this next|previous current|current former|old current|wet dry|dry burnt|raw cooked|sweet sour|sweet salty|thick thin|wide narrow|deep shallow|front back
forward backward|forwards backwards|clockwise counterclockwise|internal external|local remote|online offline|sync async|synchronous asynchronous|static dynamic|mutable immutable
visible invisible|visible hidden|known unknown|safe dangerous|safe unsafe|clean dirty|single married|single double|breakfast dinner|lunch dinner|dawn dusk|sunrise sunset|sink float
melt freeze|boil freeze|heat cool|raise lower|rise fall|grow shrink|ascend descend|major minor|majority minority|north east|south west|domestic international|rural urban|vegan meat
`;

const antonyms: ReadonlySet<string> = new Set(antonymPairs.trim().split(/[|\n]/u).flatMap((pair) => {
  const [left = '', right = ''] = words(pair);
  return [`${left} ${right}`, `${right} ${left}`];
}));
const negatingPrefixes = words('un dis in im il ir non de mis anti dés des dis sin');

export function opposed(left: string, right: string): boolean {
  if (antonyms.has(`${left} ${right}`)) return true;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= 3 && negatingPrefixes.some((prefix) => long === prefix + short);
}

/** Words with an opposite: one that stands in one text only is never a matter of style. */
export const polar = setOf('before after more less without never always highest lowest maximum minimum ascending descending left right');

export const units: ReadonlyMap<string, string> = new Map(Object.entries({
  km: 'km kilometre kilometres kilometer kilometers kms', m: 'metre metres meter meters', cm: 'cm centimetre centimetres centimeter centimeters', mm: 'mm millimetre millimetres millimeter millimeters',
  mile: 'mile miles mi', foot: 'foot feet ft', inch: 'inch inches', yard: 'yard yards', kg: 'kg kilogram kilograms kilo kilos kgs', g: 'g gram grams gramme grammes', mg: 'mg milligram milligrams',
  lb: 'lb lbs', ounce: 'oz ounce ounces', ton: 'ton tons tonne tonnes', l: 'l litre litres liter liters', ml: 'ml millilitre millilitres milliliter milliliters', gallon: 'gallon gallons', cup: 'cup cups',
  tablespoon: 'tablespoon tablespoons tbsp', teaspoon: 'teaspoon teaspoons tsp', pint: 'pint pints', celsius: 'celsius', fahrenheit: 'fahrenheit', kelvin: 'kelvin', degree: 'degree degrees',
  second: 'sec secs seconds', millisecond: 'millisecond milliseconds ms', minute: 'minute minutes mins', hour: 'hour hours hrs', day: 'day days', week: 'week weeks', month: 'month months',
  year: 'year years', decade: 'decade decades', century: 'century centuries', bit: 'bit bits', byte: 'byte bytes', kb: 'kb kilobyte kilobytes', mb: 'mb megabyte megabytes',
  gb: 'gb gigabyte gigabytes', tb: 'tb terabyte terabytes', percent: '% percent', dollar: '$ usd dollar dollars', euro: '€ eur euro euros', pound: '£ gbp pound pounds', yen: '¥ jpy yen',
  rupee: '₹ inr rupee rupees', franc: 'chf franc francs', watt: 'watt watts', kw: 'kw kilowatt kilowatts', volt: 'volt volts', am: 'am', pm: 'pm', hectare: 'hectare hectares', acre: 'acre acres',
}).flatMap(([unit, names]) => words(names).map((name) => [name, unit] as const)));

/** Words that no other word stands for: times, languages, colours, directions, formats. */
export const exact = setOf(`monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
  today tomorrow yesterday tonight now last next previous this current former morning afternoon evening night spring summer autumn winter weekday weekend quarter
  north south east west red blue green yellow black white brown pink purple orange only except least most all running new old first second third state city country county
  king queen mother father brother sister son daughter child children man woman men women adult baby`);

export const numberWords: ReadonlyMap<string, number> = new Map(Object.entries({
  zero: 0, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12, dozen: 12, thirteen: 13, fourteen: 14, fifteen: 15, sixteen: 16,
  seventeen: 17, eighteen: 18, nineteen: 19, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, seventy: 70, eighty: 80, ninety: 90, hundred: 100, thousand: 1000,
  million: 1_000_000, billion: 1_000_000_000, half: 0.5, eins: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, sechs: 6, sieben: 7, acht: 8, neun: 9, zehn: 10, deux: 2, trois: 3, quatre: 4, cinq: 5,
  dos: 2, tres: 3, cuatro: 4, cinco: 5, due: 2, tre: 3, quattro: 4, cinque: 5,
}));

export const ordinals: ReadonlyMap<string, number> = new Map(Object.entries({
  first: 1, second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, seventh: 7, eighth: 8, ninth: 9, tenth: 10, eleventh: 11, twelfth: 12, twentieth: 20, hundredth: 100,
}));

/** Forms that the stemmer cannot reach. */
export const irregular: ReadonlyMap<string, string> = new Map(Object.entries({
  made: 'make', wrote: 'write', written: 'write', built: 'build', spoken: 'speak', spoke: 'speak', won: 'win', fell: 'fall', fallen: 'fall', came: 'come', went: 'go', gone: 'go', took: 'take', taken: 'take',
  gave: 'give', given: 'give', found: 'find', bought: 'buy', sold: 'sell', sent: 'send', paid: 'pay', left: 'left', lost: 'lose', beaten: 'beat', chosen: 'choose', chose: 'choose', ate: 'eat', eaten: 'eat',
  drank: 'drink', drunk: 'drink', drove: 'drive', driven: 'drive', kept: 'keep', said: 'say', told: 'tell', thought: 'think', ran: 'run', saw: 'see', seen: 'see', knew: 'know', known: 'know', children: 'child',
  people: 'people', men: 'man', women: 'woman', feet: 'foot', mice: 'mouse', died: 'die', dying: 'die', tied: 'tie', lying: 'lie', leaves: 'leaf', knives: 'knife', lives: 'live', forgot: 'forget', forgotten: 'forget',
  meant: 'mean', met: 'meet', threw: 'throw', thrown: 'throw', began: 'begin', begun: 'begin', better: 'better', process: 'process', news: 'news', was: 'was', is: 'is', this: 'this', has: 'has', does: 'does',
}));
