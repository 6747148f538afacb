/** Ten sentences in each of 27 languages, written for measuring. Even places serve for tuning, odd ones are held out. */
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');

export const languageSamples: Readonly<Record<string, readonly string[]>> = {
  en: lines(`
    Where did you put the car keys?
    The meeting has been moved to Thursday because two colleagues are on holiday.
    I would like to return a jacket that I bought last week, since the zip is broken.
    She opened the window and listened to the rain for a while.
    How many calories are there in a slice of bread?
    Our town library stays open until nine in the evening, which is very handy for students who work during the day.
    Could you explain the difference between weather and climate to a child?
    Nobody knew why the lights went out.
    Please write a short thank-you note to my neighbours, who looked after the cat while we were away.
    The train leaves in ten minutes.`),
  de: lines(`
    Wo hast du die Autoschlüssel hingelegt?
    Die Besprechung wurde auf Donnerstag verschoben, weil zwei Kollegen im Urlaub sind.
    Ich möchte eine Jacke zurückgeben, deren Reißverschluss kaputt ist.
    Sie öffnete das Fenster und hörte eine Weile dem Regen zu.
    Wie viele Kalorien hat eine Scheibe Brot?
    Unsere Stadtbücherei hat abends bis neun Uhr geöffnet, was für berufstätige Studenten sehr praktisch ist.
    Kannst du einem Kind den Unterschied zwischen Wetter und Klima erklären?
    Niemand wusste, warum das Licht ausging.
    Schreibe bitte einen kurzen Dank an meine Nachbarn.
    Der Zug fährt in zehn Minuten ab.`),
  fr: lines(`
    Où as-tu mis les clés de la voiture ?
    La réunion a été reportée à jeudi parce que deux collègues sont en congé.
    Je voudrais rendre une veste dont la fermeture est cassée.
    Elle ouvrit la fenêtre et écouta la pluie un moment.
    Combien de calories y a-t-il dans une tranche de pain ?
    Notre bibliothèque reste ouverte jusqu'à neuf heures du soir, ce qui arrange bien les étudiants.
    Peux-tu expliquer la différence entre la météo et le climat à un enfant ?
    Personne ne savait pourquoi la lumière s'était éteinte.
    Écris un petit mot de remerciement à mes voisins.
    Le train part dans dix minutes.`),
  es: lines(`
    ¿Dónde has puesto las llaves del coche?
    La reunión se ha aplazado al jueves porque dos compañeros están de vacaciones.
    Quisiera devolver una chaqueta que tiene la cremallera rota.
    Ella abrió la ventana y escuchó la lluvia un rato.
    ¿Cuántas calorías tiene una rebanada de pan?
    Nuestra biblioteca abre hasta las nueve de la noche, lo que resulta muy cómodo para los estudiantes.
    ¿Puedes explicar a un niño la diferencia entre el tiempo y el clima?
    Nadie sabía por qué se fue la luz.
    Escribe una breve nota de agradecimiento a mis vecinos.
    El tren sale dentro de diez minutos.`),
  pt: lines(`
    Onde você colocou as chaves do carro?
    A reunião foi adiada para quinta-feira porque dois colegas estão de férias.
    Gostaria de devolver um casaco que comprei na semana passada.
    Ela abriu a janela e ficou ouvindo a chuva.
    Quantas calorias tem uma fatia de pão?
    A nossa biblioteca fica aberta até às nove da noite, o que é muito prático para os estudantes.
    Você pode explicar a diferença entre tempo e clima para uma criança?
    Ninguém sabia por que a luz tinha acabado.
    Escreva um bilhete de agradecimento aos meus vizinhos.
    O comboio parte daqui a dez minutos.`),
  it: lines(`
    Dove hai messo le chiavi della macchina?
    La riunione è stata spostata a giovedì perché due colleghi sono in ferie.
    Vorrei restituire una giacca con la cerniera rotta.
    Aprì la finestra e rimase ad ascoltare la pioggia.
    Quante calorie ci sono in una fetta di pane?
    La nostra biblioteca resta aperta fino alle nove di sera, cosa molto comoda per gli studenti.
    Puoi spiegare a un bambino la differenza tra tempo e clima?
    Nessuno sapeva perché si fosse spenta la luce.
    Scrivi un breve biglietto di ringraziamento ai miei vicini.
    Il treno parte tra dieci minuti.`),
  nl: lines(`
    Waar heb je de autosleutels neergelegd?
    De vergadering is verplaatst naar donderdag omdat twee collega's op vakantie zijn.
    Ik wil graag een jas terugbrengen waarvan de rits kapot is.
    Ze deed het raam open en luisterde een tijdje naar de regen.
    Hoeveel calorieën zitten er in een boterham?
    Onze bibliotheek is 's avonds open tot negen uur, wat erg handig is voor studenten die werken.
    Kun je een kind het verschil tussen weer en klimaat uitleggen?
    Niemand wist waarom het licht uitviel.
    Schrijf een kort bedankje aan mijn buren.
    De trein vertrekt over tien minuten.`),
  sv: lines(`
    Var har du lagt bilnycklarna?
    Mötet har flyttats till torsdag eftersom två kollegor är på semester.
    Jag skulle vilja lämna tillbaka en jacka med trasig dragkedja.
    Hon öppnade fönstret och lyssnade på regnet en stund.
    Hur många kalorier finns det i en brödskiva?
    Vårt bibliotek har öppet till nio på kvällen, vilket är mycket praktiskt för studenter.
    Kan du förklara skillnaden mellan väder och klimat för ett barn?
    Ingen visste varför ljuset slocknade.
    Skriv ett kort tack till mina grannar.
    Tåget går om tio minuter.`),
  da: lines(`
    Hvor har du lagt bilnøglerne?
    Mødet er flyttet til torsdag, fordi to kolleger er på ferie.
    Jeg vil gerne returnere en jakke, hvor lynlåsen er gået i stykker.
    Hun åbnede vinduet og lyttede til regnen et stykke tid.
    Hvor mange kalorier er der i en skive brød?
    Vores bibliotek har åbent til klokken ni om aftenen, hvilket er meget praktisk for de studerende.
    Kan du forklare et barn forskellen på vejr og klima?
    Ingen vidste, hvorfor lyset gik ud.
    Skriv en kort tak til mine naboer, som passede katten.
    Toget kører om ti minutter.`),
  no: lines(`
    Hvor har du lagt bilnøklene dine?
    Møtet er flyttet til torsdag fordi to kolleger har ferie.
    Jeg vil gjerne levere tilbake en jakke der glidelåsen er ødelagt.
    Hun åpnet vinduet og hørte på regnet en stund.
    Hvor mange kalorier er det i en brødskive?
    Biblioteket vårt er åpent til klokka ni om kvelden, noe som er veldig praktisk for studenter.
    Kan du forklare et barn forskjellen på vær og klima?
    Ingen visste hvorfor lyset gikk.
    Skriv en kort takk til naboene mine, som passet katten.
    Toget går om ti minutter fra spor to.`),
  fi: lines(`
    Mihin panit auton avaimet?
    Kokous on siirretty torstaille, koska kaksi työtoveria on lomalla.
    Haluaisin palauttaa takin, jonka vetoketju on rikki.
    Hän avasi ikkunan ja kuunteli hetken sadetta.
    Kuinka monta kaloria on yhdessä leipäviipaleessa?
    Kirjastomme on auki iltayhdeksään asti, mikä on opiskelijoille hyvin kätevää.
    Voitko selittää lapselle sään ja ilmaston eron?
    Kukaan ei tiennyt, miksi valot sammuivat.
    Kirjoita lyhyt kiitos naapureilleni.
    Juna lähtee kymmenen minuutin kuluttua.`),
  pl: lines(`
    Gdzie położyłeś kluczyki do samochodu?
    Spotkanie zostało przesunięte na czwartek, ponieważ dwóch kolegów jest na urlopie.
    Chciałbym zwrócić kurtkę z zepsutym zamkiem.
    Otworzyła okno i przez chwilę słuchała deszczu.
    Ile kalorii ma kromka chleba?
    Nasza biblioteka jest otwarta do dziewiątej wieczorem, co jest bardzo wygodne dla studentów.
    Czy możesz wyjaśnić dziecku różnicę między pogodą a klimatem?
    Nikt nie wiedział, dlaczego zgasło światło.
    Napisz krótkie podziękowanie dla moich sąsiadów.
    Pociąg odjeżdża za dziesięć minut.`),
  cs: lines(`
    Kam jsi dal klíčky od auta?
    Schůzka byla přesunuta na čtvrtek, protože dva kolegové mají dovolenou.
    Chtěl bych vrátit bundu, která má rozbitý zip.
    Otevřela okno a chvíli poslouchala déšť.
    Kolik kalorií má jeden krajíc chleba?
    Naše knihovna má otevřeno do devíti večer, což je pro studenty velmi výhodné.
    Můžeš dítěti vysvětlit rozdíl mezi počasím a podnebím?
    Nikdo nevěděl, proč zhaslo světlo.
    Napiš krátké poděkování mým sousedům.
    Vlak odjíždí za deset minut.`),
  hu: lines(`
    Hová tetted az autó kulcsait?
    A megbeszélést csütörtökre halasztották, mert két kolléga szabadságon van.
    Szeretnék visszavinni egy kabátot, amelynek elromlott a cipzárja.
    Kinyitotta az ablakot, és hallgatta egy kicsit az esőt.
    Hány kalória van egy szelet kenyérben?
    A könyvtárunk este kilencig tart nyitva, ami nagyon kényelmes a diákoknak.
    El tudod magyarázni egy gyereknek az időjárás és az éghajlat közötti különbséget?
    Senki sem tudta, miért aludt ki a fény.
    Írj egy rövid köszönetet a szomszédaimnak.
    A vonat tíz perc múlva indul.`),
  ro: lines(`
    Unde ai pus cheile de la mașină?
    Ședința a fost mutată pe joi, pentru că doi colegi sunt în concediu.
    Aș dori să returnez o jachetă cu fermoarul stricat.
    A deschis fereastra și a ascultat ploaia un timp.
    Câte calorii sunt într-o felie de pâine?
    Biblioteca noastră este deschisă până la nouă seara, ceea ce este foarte comod pentru studenți.
    Poți să-i explici unui copil diferența dintre vreme și climă?
    Nimeni nu știa de ce s-a stins lumina.
    Scrie un scurt mesaj de mulțumire vecinilor mei.
    Trenul pleacă peste zece minute.`),
  tr: lines(`
    Arabanın anahtarlarını nereye koydun?
    İki meslektaşım izinde olduğu için toplantı perşembeye ertelendi.
    Fermuarı bozuk olan bir ceketi iade etmek istiyorum.
    Pencereyi açtı ve bir süre yağmuru dinledi.
    Bir dilim ekmekte kaç kalori vardır?
    Kütüphanemiz akşam dokuza kadar açık, bu da öğrenciler için çok kullanışlı.
    Bir çocuğa hava durumu ile iklim arasındaki farkı açıklayabilir misin?
    Işıkların neden söndüğünü kimse bilmiyordu.
    Komşularıma kısa bir teşekkür notu yaz.
    Tren on dakika sonra kalkıyor.`),
  ru: lines(`
    Куда ты положил ключи от машины?
    Собрание перенесли на четверг, потому что двое коллег в отпуске.
    Я хотел бы вернуть куртку со сломанной молнией.
    Она открыла окно и некоторое время слушала дождь.
    Сколько калорий в куске хлеба?
    Наша библиотека открыта до девяти вечера, что очень удобно для студентов.
    Ты можешь объяснить ребёнку разницу между погодой и климатом?
    Никто не знал, почему погас свет.
    Напиши короткую благодарность моим соседям.
    Поезд отправляется через десять минут.`),
  uk: lines(`
    Куди ти поклав ключі від машини?
    Зустріч перенесли на четвер, бо двоє колег у відпустці.
    Я хотів би повернути куртку зі зламаною блискавкою.
    Вона відчинила вікно і якийсь час слухала дощ.
    Скільки калорій у скибці хліба?
    Наша бібліотека відчинена до дев'ятої вечора, що дуже зручно для студентів.
    Чи можеш ти пояснити дитині різницю між погодою та кліматом?
    Ніхто не знав, чому згасло світло.
    Напиши коротку подяку моїм сусідам.
    Потяг вирушає через десять хвилин.`),
  bg: lines(`
    Къде си сложил ключовете от колата?
    Срещата беше преместена за четвъртък, защото двама колеги са в отпуск.
    Искам да върна яке със счупен цип.
    Тя отвори прозореца и послуша дъжда известно време.
    Колко калории има във филия хляб?
    Нашата библиотека е отворена до девет вечерта, което е много удобно за студентите.
    Можеш ли да обясниш на дете разликата между времето и климата?
    Никой не знаеше защо угасна светлината.
    Напиши кратка благодарност на моите съседи.
    Влакът тръгва след десет минути.`),
  el: lines(`
    Πού έβαλες τα κλειδιά του αυτοκινήτου;
    Η συνάντηση μεταφέρθηκε για την Πέμπτη, γιατί δύο συνάδελφοι έχουν άδεια.
    Θα ήθελα να επιστρέψω ένα μπουφάν με χαλασμένο φερμουάρ.
    Άνοιξε το παράθυρο και άκουσε για λίγο τη βροχή.
    Πόσες θερμίδες έχει μια φέτα ψωμί;
    Η βιβλιοθήκη μας είναι ανοιχτή μέχρι τις εννιά το βράδυ.
    Μπορείς να εξηγήσεις σε ένα παιδί τη διαφορά ανάμεσα στον καιρό και το κλίμα;
    Κανείς δεν ήξερε γιατί έσβησε το φως.
    Γράψε ένα σύντομο ευχαριστήριο στους γείτονές μου.
    Το τρένο φεύγει σε δέκα λεπτά.`),
  ar: lines(`
    أين وضعت مفاتيح السيارة؟
    تم تأجيل الاجتماع إلى يوم الخميس لأن اثنين من الزملاء في إجازة.
    أود أن أعيد سترة اشتريتها الأسبوع الماضي.
    فتحت النافذة واستمعت إلى المطر لبعض الوقت.
    كم عدد السعرات الحرارية في شريحة الخبز؟
    تبقى مكتبتنا مفتوحة حتى التاسعة مساء، وهذا مريح جدا للطلاب.
    هل يمكنك أن تشرح لطفل الفرق بين الطقس والمناخ؟
    لم يعرف أحد لماذا انطفأ الضوء.
    اكتب رسالة شكر قصيرة إلى جيراني.
    يغادر القطار بعد عشر دقائق.`),
  he: lines(`
    איפה שמת את המפתחות של המכונית?
    הפגישה נדחתה ליום חמישי כי שני עמיתים בחופשה.
    אני רוצה להחזיר מעיל עם רוכסן שבור.
    היא פתחה את החלון והקשיבה לגשם זמן מה.
    כמה קלוריות יש בפרוסת לחם?
    הספרייה שלנו פתוחה עד תשע בערב, וזה נוח מאוד לסטודנטים.
    האם תוכל להסביר לילד את ההבדל בין מזג אוויר לאקלים?
    אף אחד לא ידע למה האור כבה.
    כתוב מכתב תודה קצר לשכנים שלי.
    הרכבת יוצאת בעוד עשר דקות.`),
  hi: lines(`
    तुमने गाड़ी की चाबियाँ कहाँ रखीं?
    बैठक गुरुवार तक टाल दी गई है क्योंकि दो सहकर्मी छुट्टी पर हैं।
    मैं एक जैकेट वापस करना चाहता हूँ जिसकी चेन टूटी है।
    उसने खिड़की खोली और कुछ देर बारिश सुनी।
    ब्रेड के एक टुकड़े में कितनी कैलोरी होती है?
    हमारा पुस्तकालय रात नौ बजे तक खुला रहता है, जो छात्रों के लिए बहुत सुविधाजनक है।
    क्या आप एक बच्चे को मौसम और जलवायु का अंतर समझा सकते हैं?
    किसी को नहीं पता था कि बत्ती क्यों बुझ गई।
    मेरे पड़ोसियों के लिए एक छोटा धन्यवाद पत्र लिखो।
    ट्रेन दस मिनट में चलती है।`),
  ja: lines(`
    車の鍵をどこに置いたのか覚えていますか。
    同僚が二人休暇中なので、会議は木曜日に延期されました。
    先週買った上着のファスナーが壊れているので返品したいです。
    彼女は窓を開けて、しばらく雨の音を聞いていました。
    食パン一枚には何カロリーありますか、教えてください。
    私たちの図書館は夜九時まで開いているので、学生にはとても便利です。
    天気と気候の違いを子どもに説明してもらえますか。
    なぜ明かりが消えたのか、誰も知りませんでした。
    隣の人たちに短いお礼の手紙を書いてください。
    電車はあと十分で出発しますので、お急ぎください。`),
  zh: lines(`
    你把车钥匙放在哪里了？我找了半天也没有找到它。
    因为有两位同事正在休假，会议改到了星期四上午举行。
    我想退掉上周买的一件夹克，因为它的拉链已经坏了。
    她打开窗户，静静地听了一会儿外面的雨声，然后去睡觉。
    请问一片面包里面大概有多少卡路里，吃多了会不会胖？
    我们的图书馆一直开放到晚上九点，这对学生来说非常方便。
    你能不能向一个小孩子解释一下天气和气候之间的区别？
    没有人知道昨天晚上为什么突然停电了，大家都很着急。
    请帮我给邻居写一封简短的感谢信，谢谢他们照顾我的猫。
    火车还有十分钟就要开了，我们必须赶快去站台。`),
  ko: lines(`
    자동차 열쇠를 어디에 두었는지 기억나세요?
    동료 두 명이 휴가 중이라서 회의가 목요일로 연기되었습니다.
    지난주에 산 재킷의 지퍼가 고장 나서 반품하고 싶습니다.
    그녀는 창문을 열고 잠시 빗소리를 들었다.
    빵 한 조각에는 칼로리가 얼마나 있나요?
    우리 도서관은 밤 아홉 시까지 열려 있어서 학생들에게 매우 편리합니다.
    아이에게 날씨와 기후의 차이를 설명해 줄 수 있나요?
    왜 불이 꺼졌는지 아무도 몰랐습니다.
    이웃들에게 짧은 감사 편지를 써 주세요.
    기차는 십 분 뒤에 출발합니다. 서둘러 주세요.`),
  vi: lines(`
    Bạn để chìa khóa xe ở đâu rồi?
    Cuộc họp được dời sang thứ Năm vì hai đồng nghiệp đang nghỉ phép.
    Tôi muốn trả lại chiếc áo khoác bị hỏng khóa kéo.
    Cô ấy mở cửa sổ và lắng nghe tiếng mưa một lúc.
    Một lát bánh mì có bao nhiêu calo?
    Thư viện của chúng tôi mở cửa đến chín giờ tối, rất tiện cho sinh viên.
    Bạn có thể giải thích cho trẻ em sự khác nhau giữa thời tiết và khí hậu không?
    Không ai biết vì sao đèn tắt.
    Hãy viết một lời cảm ơn ngắn gửi hàng xóm của tôi.
    Tàu sẽ khởi hành sau mười phút nữa.`),
};
