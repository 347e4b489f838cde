// Pronouns, articles, questions, in English also imperatives and nouns of the household, that often begin a sentence in languages with capitals, and that are not names.
const kWords = [
  'aber ale ama amanhã anche après auch aussi avec ayer bei benim bir bist bitte biz bizim bugün but ces cette che chi come comment',
  'con could cuándo czy cómo dans das dein deine demain depois der des después deze did die dir dit dlaczego does domani dopo dove',
  'du dziś dónde dün een eine ele elle elles er es esta este está están eu euer eure from für gdzie gestern gisteren gli haben habt',
  'has hast have hay he heeft her here het heute hier hij his hoe hoje how hoy há i ich ieri ihr ik il ils ist isto it için jak je',
  'jest jij jouw jullie jutro kan kannst kiedy kto kun kunnen können könnten las lei les let leur loro los lui lütfen maar mas',
  'mañana mein meine met meu mijn minha mir mit moja moje mon morgen może możemy możesz must mój nach nasz nasza nasıl ne neden nel',
  'nella nerede noi nosotros nossa nosso nostra nostro not notre nous nuestra nuestro não nós oggi onlar ontem onze ook our où para',
  'perché pero peux please pode podemos pour pourquoi pouvez przed puede puedes puoi può quand quando que quello quem questa questo',
  'qui quién qué seine senin seu shall she should sie sind siz sizin sonra só są también também też that the their there these they',
  'this those tu twoja twoje twój uma una und une unser unsere ustedes vandaag var vocês voi voor vostra vostro votre vous waar',
  'waarom wann wanneer warum was wat wczoraj we wenn were what when where which who why wie wij wir with wo would yarın yo yok you',
  'your zaman zij zijn él şu ваш ваша вчера вы где есть завтра как когда кто может можно мой моя моё мы наш наша нет он она они оно',
  'add apples arrange ask avoid bags bake beans boil books boxes breakfast bring buses buy calculate cars carrots cats check children choose chop chicken circle clean click clouds coats coffee collect combine compare cover',
  'cut describe dinner dogs doors drain drivers dry eggs enter entry explain fill find flip flour flowers fold food football fry give grill guests heat help homework keep knead leave let letters lights listen look lunch make',
  'maths measure melt mushrooms name nails neighbours note onions open parcels parents parking pasta payment peas phones plants please potatoes pour preheat press pull push put rabbits remember remove rent rinse roads roll',
  'sandwiches school screws send serve shops shoes sign slice sort soup spoon sprinkle squeeze start stir stop store students swimming take tell thank tickets tidy tie tomatoes towels trains trees try turn type underline unplug use visitors volunteers wait',
  'wash watch water wear whisk windows wipe work write',
  'после почему сегодня твой твоя тоже ты что эта это этот я',
];

export const kSentenceStarts: ReadonlySet<string> = new Set(kWords.join(' ').split(' '));
