// Words of everyday life that are not names: in Hindi and Arabic, where no capital tells a name from a word; in German, where every noun has a
// capital; days, months and ages. Words that are also names are left out (आशा, मेरी, مطر, Mutter, Norden, Friday, April).
const kWords = [
  'पानी दूध रोटी अंडे चाय खाना खाने नाश्ते सब्ज़ी आलू प्याज़ टमाटर चावल दाल आटा नमक चीनी फल पनीर ब्रेड मक्खन केक शहद गाजर नींबू दही मसाला',
  'दरवाज़ा दरवाज़े खिड़की छत दीवार फ़र्श सीढ़ी बरामदे बगीचे अलमारी मेज़ कुर्सी बिस्तर पंखा बिजली लिफ़्ट फ़्रिज मशीन चाबी ताला बत्ती बर्तन कूड़ा साबुन रसोई तौलिया चादर बोतल डिब्बे कपड़े जूते घड़ी फ़ोन',
  'किताब पाठ परीक्षा छुट्टी विज्ञान गणित सवाल जवाब साइकिल गाड़ी बस ट्रेन रास्ता रास्ते पुल टिकट सूचना मरम्मत जाँच मैदान',
  'मौसम बारिश बर्फ़ हवा गर्मी सर्दी ठंड आसमान पीला रंग दिन रात सुबह दोपहर हफ़्ते सप्ताह महीने साल घंटे आज कल सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार जनवरी फ़रवरी मार्च जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर',
  'पैसे किराया दाम रुपये सरकार दफ़्तर बुखार दवा दवाई बच्चे लोग पक्षी कुत्ता कुत्ते बिल्ली मछली पेड़ घास पौधे दादी मम्मी पापा',
  'नया नई पुराना पुरानी बड़ा बड़ी अच्छा अच्छी ख़राब गीला गीले ताज़ा गरम ठंडा ठंडी भरा भरी खाली आसान कठिन पहला दूसरा चौथी आधे थोड़ा थोड़ी हमारा हमारी यह वह कुछ बहुत क्यों क्या मत सब कोई',
  'करना करने रहा रहे रही गई दिया आया आई रखना कहो लगा लगे',
  'ثلج باب بيت مطبخ حديقة مدرسة درس سيارة قطار خبز شاي أسبوع شهر سنة ساعة يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر عشب زراعة كرة قدم مباراة مدرب حكومة',
  'kühlschrank waschmaschine fahrrad kaffee joghurt eier nudeln kartoffeln gemüse zwiebeln tomaten kuchen brötchen salat käse suppe sahne tasse frühstück mittagessen abendessen küche treppe aufzug fenster heizung müll zahnbürste handtuch seife socken hemd hose jacken schuhe regenschirm',
  'bibliothek schwimmbad bahnhof straßenbahn gleis ampel gehweg hausaufgabe hausaufgaben lehrerin eltern kinder kindern mama papa oma opa großmutter großvater schwester tante onkel schule wetter regen gewitter sonne wolken osten süden westen husten schnupfen fieber kopfschmerzen tabletten',
  'wochenende woche monat stunde termin sitzung rechnung angebot miete regierung katze kaninchen hühner kühe schafe schrauben nägel werkzeug bargeld passwort rasen fußball mannschaft dienstag mittwoch donnerstag samstag januar februar oktober dezember',
  'mum mom dad grandma grandpa granny italian spanish greek russian korean chinese japanese turkish polish portuguese indian mexican tuesday wednesday thursday saturday february october november december christmas easter',
];

const kCommon: ReadonlySet<string> = new Set(kWords.join(' ').split(' '));
/** In Arabic, 'and' and the article are written with the word. */
const kBefore = /^(?:و?ال|و)/;
/** Endings of plurals and verbs in Hindi. */
const kHindiForm = /\p{Script=Devanagari}{2}(?:ें|ियाँ|ेंगे)$/u;
const kAge =
  /^(?:the )?(?:(?:middle|dark) ages|(?:bronze|stone|iron|ice) age|new year|mittelalter|steinzeit|bronzezeit|moyen âge|edad media|idade média|medioevo|middeleeuwen|中世紀?|中世纪|العصور الوسطى|القرون الوسطى|العصر الحجري)$/i;

export function isCommonWord(word: string): boolean {
  return kCommon.has(word) || kHindiForm.test(word) || kCommon.has(word.replace(kBefore, ''));
}

/** Whether a finding consists of common words alone. */
export function isCommon(words: string): boolean {
  return kAge.test(words) || words.split(/[\s,،]+/).every((word) => isCommonWord(word.toLowerCase()));
}
