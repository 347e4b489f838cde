// Names next to a form of address: 'Mr Miller', 'Frau Dr. Seidel', '王先生', '佐藤さん', '김민준 씨', 'श्री शर्मा'.
import type { TextRange } from '../text_folding.js';
import { rangesOf } from './cues.js';

const kCapital = "\\p{Lu}[\\p{L}\\p{M}'’-]+";
const kTitle = '(?:(?:Dr|Prof|Dipl|Ing|med|jur|Dott|Avv)\\.(?:ssa)? ?(?:-?Ing\\. ?)?){0,3}';
/** Words after a title that are an office, as in 'Herr Direktor'. */
const kOffice =
  '(?!(?:Doktor|Direktor|Präsident|Professor|Minister|Kollege|Ober|Lehrer|President|Speaker|Chairman|Right|Directeur|Directrice|Président|Le|La|Les|Presidente|Director|Directora|Diretor|Diretora|Doctor|Doutor|Dottor|Direttore|Dyrektor|Prezes|Profesor|Doktorze|Państwo|Müdür|Başkan|Директор|Президент|Министр|Bürgermeister|Lieutenant|Universe|Ministro|Ministra)(?![\\p{L}\\p{M}]))';
const kTitled = new RegExp(
  `(?<![\\p{L}\\p{M}\\d.-])(?:(?:M(?:r|rs|s|x)\\.?|Herrn?|Frau|Familie|Fräulein|Mme|Mlle|Monsieur|Madame|Ma[îi]tre|Sra?\\.|Srta\\.|Señora?|Señorita|Dona|Doña|Sig\\.(?:ra|na)?|Signora?|Dott\\.(?:ssa)?|Avv\\.|Dhr\\.|Mevr\\.|Meneer|Mevrouw|Pan[ai]?|Panią|Panu|Panem|Sayın|Г-н|Г-жа|Господин[ау]?|Госпож[аеуи]|г-н|г-жа|господин[ау]?|госпож[аеуи]|[Dd]r\\.|[Pp]rof\\.) )(?<detail>${kTitle}${kOffice}(?:(?:de|van|von|der|den|ter|di|da|del) ){0,3}${kCapital}(?:(?: (?:de|da|di|del|dos|van|von|der|den|ter|bin|al|el))* ${kCapital}){0,2})`,
  'dgu',
);
const kTurkish = /(?<![\p{L}\p{M}])(?<detail>\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?) (?:Bey|Hanım|Hocam?|Abi|Abla)(?!\p{L})/dgu;

export const kChineseSurnames =
  '王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蔡蒋余杜叶程魏苏吕丁任卢姚沈姜崔钟谭陆汪范石廖贾夏韦付邹孟熊秦邱侯江尹薛闫段雷龙史陶黎贺顾毛郝龚邵钱严洪武戴莫孔赖樊兰殷施翁柯倪章鲁葛聂丛岳齐梅庄辛管祝左涂耿牟卜焦詹阮张劉陳楊黃趙吳孫馬鄭謝許鄧葉盧鍾譚陸賈韋鄒龍賀顧龔錢嚴賴欧';
const kChineseTitle =
  '(?:先生|女士|小姐|太太|老师|老師|经理|經理|主任|医生|醫生|律师|教授|阿姨|师傅|师父|同学|同志|大爷|大妈|叔叔|奶奶|爷爷|会计|队长|局长|处长|院长|校长|总监|老板|护士|工程师|大夫|总(?!是|之|共|有|会|的|数|体|要|得|算|和|部|在|感|觉|裁|额|量|而|括|结))';
/** Words that may precede a surname without a space. */
const kChineseBefore = '(?<=[是的找和给給请請叫问問跟与與对對由同让讓替帮幫见見户戶友员員师師])';
const kChinese = new RegExp(
  `(?<!\\p{Script=Han})(?<detail>[${kChineseSurnames}]\\p{Script=Han}{0,2}?)(?=${kChineseTitle})|${kChineseBefore}(?<named>[${kChineseSurnames}])(?=${kChineseTitle})`,
  'dgu',
);
/** '小王', '老李' at the beginning of a clause, and before words of speech. */
const kFamiliar = new RegExp(
  `(?<![\\p{Script=Han}])(?<detail>[小老阿][${kChineseSurnames}])(?=[,，:：!！、。\\s]|说|和|跟|的|在|今|明|昨|来|去|也|已|还|你|帮|请|给)(?!时|的时候)`,
  'dgu',
);

/** Surnames of Japan as a regular expression: most consist of one of the first characters and one of the second. */
export const kJapaneseSurnames =
  '(?:[佐鈴高田伊山中小加吉松井木斎斉齋池橋阿石前岡藤後近村遠青坂福太西金三原竹和森上内柴酒宮横安大谷今増丸杉新平武菅岩菊市島桜飯北川土秋永馬浜星矢浅荒熊黒尾早片長白戸須倉柳榎滝神桑牧堀栗梅津成関若渋豊塩工][藤木橋本村田崎川島井原浦野山塚松岡谷沢澤瀬森坂]|渡[辺邉邊部]|田辺|[山川野谷樋田関江坂]口|[田山竹野]中|[村井川三池]上|[山木松宮森]下|[大小中]西|[山竹]内|[阿服]部|[河水]野|野[村田]|松尾|本田|菊[地池]|古[川田谷]|大?久保田?|小[林池]|佐々木|長谷川|五十嵐|清水|望月|土屋|千葉|金子|馬場|[林森原関東辻堀])';
const kJapaneseTitle = '(?:さん|様(?![式子々相変])|さま|くん|君|ちゃん|先生|氏(?![族名])|先輩|部長|課長|係長|店長|社長|主任|選手)';
const kJapanese = new RegExp(
  `(?<!\\p{Script=Han})(?<detail>${kJapaneseSurnames}(?:\\s?\\p{Script=Han}{1,3}|\\s?[ぁ-んァ-ヶ]{2,4}?)?)(?=${kJapaneseTitle})`,
  'dgu',
);
/** Names in katakana, of foreigners and in forms, and nicknames. The others are persons without a name. */
const kKatakana =
  /(?<![ァ-ヶー・])(?<detail>(?!(?:パパ|ママ|オーナー|スタッフ|ドライバー|リーダー|ユーザー|マスター|シェフ|ナース|コーチ|マネージャー|サンタ|ペット|ネコ|イヌ|ゾウ|クマ|ウサギ|ゲスト|メンバー|オペレーター|トレーナー|ファン|モデル|カメラマン|サラリーマン|アイドル|ライバル|バイト|パート|リスナー|フォロワー|ヘルパー|ピエロ|エンジニア|デザイナー)[さ様氏ち君くの先])[ァ-ヴー]{2,8}(?:[・ ][ァ-ヴー]{2,10})?)(?=(?:さん|様(?![式子々相な変に])|さま|くん|君|ちゃん|氏(?![族名])))/dgu;
const kNickname =
  /(?<![ぁ-んァ-ヶー\p{Script=Han}])(?<detail>(?!(?:おばあ|おじい|おねえ|おにい|おとう|おかあ|おば|おじ|あか|みな|いもうと|おとうと|わん|にゃん|ぼっ|おぼっ|じい|ばあ|ねえ|にい|とう|かあ)ち?)[ぁ-ん]{1,4}(?:ちゃん|くん))(?![ぁ-ん]*と[しい])/dgu;

const kKorean =
  /(?<!\p{L})(?<detail>(?:남궁|황보|제갈|선우|[김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국])[가-힣]{2}) ?(?=(?:씨|님|양|군|선생님|고객님|교수님|과장님|부장님|대리님|팀장님|대표님|사장님|환자|기자|의원)(?:[은는이가의을를께와과도]|에게|한테|께서|,|\s|$))/dgu;

const kHindiWord = '[\\p{Script=Devanagari}]{2,20}';
const kHindi = new RegExp(
  `(?<![\\p{L}\\p{M}])(?:श्री|श्रीमती|सुश्री|कुमारी|डॉ\\.?|प्रो\\.|पंडित|अधिवक्ता) (?<detail>(?!(?:और|या|ने|को|का|की|के|से|साहब|जी|मंत्री|हैं|है|मान|आज|कल|नहीं|भी|तो|पर|में)(?![\\p{L}\\p{M}]))${kHindiWord}(?: (?!(?:और|या|ने|को|का|की|के|से|साहब|जी|हैं|है|भी|तो|पर|में|नहीं|आज|कल|बोल|द्वारा|आए|आई)(?![\\p{L}\\p{M}]))${kHindiWord}(?= (?:जी|ने|को|का|की|के|से|साहब|हैं|भी|पर|में|द्वारा)))?)`,
  'dgu',
);

const kArabic =
  /(?<!\p{L})(?:السيد|السيدة|الآنسة|الأستاذ|الأستاذة|الدكتور|الدكتورة|المهندس|المهندسة|الشيخ|المحامي|المحامية) (?<detail>(?!(?:الرئيس|الوزير|المدير|المحترم|المحترمة|الذي|التي|في|من|على|إلى|عن|أن|هو|هي|لا|لم|إنه|إنها|وحده|العديد|يمكن|قائل|قائلا)(?!\p{L}))\p{Script=Arabic}{3,15}(?: (?:بن|بنت|أبو|آل|عبد) \p{Script=Arabic}{3,15}| ال\p{Script=Arabic}{3,12}(?=[\s,،.؟!]|$))?)/dgu;

const kForms = [kTitled, kTurkish, kFamiliar, kJapanese, kKatakana, kNickname, kKorean, kHindi, kArabic];

/** Finds names of persons next to a form of address. */
export function findTitled(text: string): TextRange[] {
  const chinese = [...text.matchAll(kChinese)].map(({ indices }) => {
    const [start, end] = indices!.groups!.detail ?? indices!.groups!.named!;
    return { start, end };
  });
  return [...kForms.flatMap((form) => rangesOf(text, form)), ...chinese];
}
