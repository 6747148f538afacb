/** Texts to measure with; `heldOut` was written before any tuning and only serves for the figures in the README. */
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((line) => line.replaceAll('\\n', '\n'));

export interface LabelledTexts {
  readonly gibberish: readonly string[];
  readonly real: readonly string[];
}

export const heldOut: LabelledTexts = {
  gibberish: lines(`
    asdkjh qwpeoi zxmcn alskdj
    sdfghjk lkjhgfd dfghjkl
    qwrtp zxcvb mnbvc lkjhg
    fjdksla fjdksla fjeiwo qpwoei
    hjklasdf uiopqwer vbnmzxcv
    dfgdfg hfghfgh jkjkljkl
    ghjghj tyutyu vbnvbn rtyrty
    wefwef sdfsdf xcvxcv werwer
    aksjdhaksjdh aksjdh kasjdh
    jfkdls jfkdlsa; jfkdlsa; fjdkls
    lkasjdf lkajsdf lkjasdf asdf
    poiuytrewq lkjhgfdsa mnbvcxz
    xkqz vbnt wrtp lmkj hgfd
    brtkl mnpst grvxz klmnt
    zxq wvk jhp qxz bcd fgh
    tnrsk plvtm drgnb skrtl
    vqkzj xwqpl mzkvt qjxwr
    kdjfhg skdjfh gskdjfhg sdkjfhg
    oiwejr owiejf oiwjef oiwjfe
    eroiu weroiu xcvlkj sdflkj
    uhsdf iuhsdf iuhwer iuhxcv
    ngjkdf bgjkdf bvjkdf nvdfk
    rtgh fghd dfgh rtyh gfhj
    lalalalalalalalala
    bababababababababa
    asdasdasdasdasdasd
    xoxoxoxoxoxoxoxoxoxo
    qweqweqweqweqweqwe
    kekekekekekekekekekeke
    dodododododododododododo
    aaaaaaaaaaaaaaaaaaaaaaaa
    zzzzzzzzz xxxxxxxxx zzzzzzz
    hfjdkhfjdks hfjdkshfjkdsh jkfhdsjkfh
    Sdlkfj sldkfj, sdlfkj! Wlekrj wlkerj.
    GHJKL FGHJK DFGHJ SDFGH
    QWZXV BNMKL RTYPL KJHGF
    wkejrh wkejrhw kejrh wkejhr
    mxncbv mxncbv zmxncb
    pqowie urytpq owieur ytlaks
    bnvmcx bnvmcxz bvncmx
    tgbyhn rfvtgb edcrfv wsxedc
    qazwsx edcrfv tgbyhn ujmikl
    yhnujm tgbyhn qazwsx rfvedc
    ifjweoi fjweoif jweoifj weoifjw
    sjdhf ksjhf kjshf kjshdf kjhsd
    vlkxcjv lkxcjv lkxcjvl kxcj
    fpwqoj fpwoqj dfpwqoj pfowqj
    hsjakdl hsjakld hajskld
    njkfdsn jkfdnsjk fnsdjk
    uyrtyu eyrtuwy ertuywer
    cvbxn cvbxzn vcbxnz bvcxn
    wqeuyi wqueyi qwuyei qwueyi
    gkdfjgl kdfjgld kfjgldkf gjdlfkgj
    owqieu poqwieu poqiwue
    zmxnqw pqozmx nqwlak sjdhqp
    ghtyru fjdkei slwoqp zmxncb
    djfkrl tmvnbq wpxzhg ycsdfk
    lkjlkj lkjlkjl kjlkjlk jlkjlkj
    rwerwer werwerwe rwerwerwer
    fsdfsdf sdfsdfs dfsdfsdf
  `),
  real: lines(`
    Good morning, how are you today?
    thx m8, cu tmrw at the pub, brb
    Krzysztof Szczepański, Grzegorz Brzęczyszczykiewicz
    Llanfairpwllgwyngyllgogogochuchwyndrobwllllantysiliogogogoch is a village in Wales.
    Siobhán Ní Dhomhnaill and Tadhg Ó Murchadha
    Nguyễn Thị Thanh Huyền, Trần Quốc Bảo
    Schwarzwälder Kirschtorte, Rindfleischetikettierungsüberwachungsgesetz
    Musterstraße 17, 80331 München, Deutschland
    221B Baker Street, London NW1 6XE
    Calle de Alcalá 42, 28014 Madrid, España
    SKU: BX-4471-QZ, WRT-99812, KLM-00123-XL
    Part numbers LM358N, NE555P, BC547B, IRFZ44N and TL072CP are in stock.
    https://example.com/a/b?x=1&utm_source=qwzx#part-2
    function add(a, b) { return a + b; }
    for (let i = 0; i < xs.length; i++) sum += xs[i];
    {"id":"a8f3","kind":"event","rows":[1,2,3],"ok":true}
    SELECT id, name FROM customers WHERE country = 'PL' ORDER BY name;
    git rebase -i HEAD~3 && git push --force-with-lease
    kubectl get pods -n kube-system -o wide | grep crash
    TypeError: Cannot read properties of undefined (reading 'map')
    eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0
    SGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0
    e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    import numpy as np; x = np.linspace(0, 2 * np.pi, 100)
    #!/bin/sh\\nset -eu\\nmkdir -p build && cc -o build/app main.c
    <div class="row"><span id="x1">Hello</span></div>
    hahahaha that was so funny, lol
    Hmmmm, I am not so sure about this...
    Yesss!!! We finally won the match!
    NASA, UNESCO, WHO, IMF and NATO are abbreviations.
    HTTP, TLS, TCP, UDP, DNS, DHCP, SMTP: explain each of them
    The strengths of Schmidt's twelfth symphony
    Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor
    Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae.
    Nakapunta na ba kayo sa Maynila? Maganda ang panahon ngayon.
    Saya ingin memesan dua cangkir kopi dan sepotong kue.
    Ninapenda kusoma vitabu jioni baada ya kazi.
    Kāpēc tu neesi atnācis uz sapulci vakar vakarā?
    Kodėl vakar neatėjai į susitikimą su kolegomis?
    Miks sa eile koosolekule ei tulnud?
    Zašto jučer nisi došao na sastanak s kolegama?
    Prečo si včera neprišiel na stretnutie s kolegami?
    Zakaj včeraj nisi prišel na sestanek s sodelavci?
    Hvers vegna komstu ekki á fundinn í gær?
    Cén fáth nár tháinig tú chuig an gcruinniú inné?
    Pam na ddaethoch chi i'r cyfarfod ddoe?
    Zergatik ez zinen etorri atzo bilerara?
    Per què no vas venir ahir a la reunió?
    Pse nuk erdhe dje në mbledhje?
    Waarom het jy nie gister na die vergadering gekom nie?
    Kial vi ne venis al la kunveno hieraŭ?
    Privet, kak dela? Davno ne videlis.
    Konnichiwa, watashi wa gakusei desu. Yoroshiku onegaishimasu.
    Wo xiang qu Beijing, ni you shijian ma?
    aap kaise ho? main theek hoon, shukriya
    Mujhe kal subah jaldi uthna hai kyunki meri train hai
    DNA, mRNA, tRNA and CRISPR-Cas9 in Saccharomyces cerevisiae
    Acetylsalicylic acid, dihydroxyacetone phosphate, phosphoenolpyruvate
    ibuprofen 400 mg, pantoprazole 20 mg, metoprolol succinate
    Bxl - Antwerpen, vertrek 14:32, spoor 5
    pls fwd the pdf asap, mgr wants it by eod
    Kraftfahrzeughaftpflichtversicherung abschließen oder wechseln
    rhythm myths nymph crypt lynx sphinx gypsy
    Angstschweiß, Strumpfhose, Herbststurm, Pfropf
    vzdělávání čtvrtstoletí zmrzlina smrt prst krk
    Strč prst skrz krk
    Wczoraj w Szczebrzeszynie chrząszcz brzmiał w trzcinie
    Tbilisi, Mtskheta, Gldani and Vladikavkaz are towns on the way.
    ACME GmbH & Co. KG, HRB 12345, USt-IdNr. DE123456789
    IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX
    Mr. Zbigniew Wójcik called about order PL-2231-XQ.
    The quick brown fox jumps over the lazy dog.
    abcdefghijklmnopqrstuvwxyz is the alphabet in order
    do re mi fa sol la ti do
    blah blah blah, you know how it goes with meetings
    knock knock, who is there?
    ha ha ha, very funny indeed
    C:\\Users\\jsmith\\AppData\\Local\\Temp\\xjq.tmp
    /usr/local/lib/node_modules/npm/bin/npm-cli.js
    const kvp = xs.map(([k, v]) => k + v).join('\\n');
    printf("%s\\n", strncmp(buf, ptr, len) ? "n" : "y");
    x^2 + y^2 = z^2, sin(x) cos(y), lim n->inf
    Qatar, Kyrgyzstan, Djibouti, Kiribati, Liechtenstein
    Worcestershire, Leicestershire, Gloucestershire
    Tchaikovsky, Rachmaninoff, Shostakovich, Dvořák, Szymanowski
    Xochimilco, Tlaxcala, Tlalpan, Popocatépetl
    Mbappé, Szoboszlai, Lewandowski, Gvardiol, Kvaratskhelia
    password reset for user jbrzk@example.org failed twice
    Wsparcie techniczne: proszę podać numer zgłoszenia
    Grüezi mitenand, wie gaht's eu hüt?
    Jag förstår inte vad du menar med det där.
  `),
};

export const tuning: LabelledTexts = {
  gibberish: lines(`
    asdf jkl; asdf jkl; qwer
    lksdjf lskdjf sldkfj
    qwoeiru qpwoeiru zmxcnv
    dkfjgh dkfjghd kfjghdkf
    fghfgh fghfgh dfgdfg
    hjkhjk bnmbnm yuiyui
    sdfklj sdfklj wer xcv
    zxcvbn asdfgh qwertz
    plokij uhygtf rdeswa
    mnbvcx lkjhgf poiuyt
    wxrt kplm vbnh zqsd
    grtbl xkvnm pqlrt zzkrv
    bdkfn wqrtz mvxkl
    jdkslf jdksla jfkdsl
    eiwoqp eiwoqp rueiwo
    cvncvn xmcvn xcmvn
    aslkdj qwoieu zxmcnb
    sakdjh askdjh sakjdh
    yuqwte yuqwet yuqwte
    nbmvcx nbvmcx nbvcmx
    lololololololololo
    tatatatatatatatata
    qwertqwertqwertqwert
    sdsdsdsdsdsdsdsdsd
    eeeeeeeeeeeeeeeeee
    FJDKS LAFJD KSLAF
    Kjsdf hksjdf! Skdjfh? Ksjdhf.
    oqiwue oiqwue oqwiue
    gjfkdls gjfkdls gjfkd
    rtuwer tyuwer tyuwre
    vbxcnz bvxcnz xbvcn
    trklp mnbrt xvzqk hjwtp
    qjkxz vwpbm ftrgh
    fdsafdsa fdsafdsa rewqrewq
    hgfhgf ytrytr nbvnbv
    werlkj sdfoiu xcvwer
    ksdjfhskdjfhksdjfh
    dfkjg hdfkjg hdfkjghdfkjg
    uioyuio yuioyui oyuioy
    wpeoirut ypqowieur
    zmxncbvz mxncbv qpwoeiruty
    bjkvcx bjkvxc bjvkcx
  `),
  real: lines(`
    How do I boil an egg?
    Dr. Zbigniew Brzezinski and Mr. Schwarzenegger met in Wrocław.
    ok thx, will do asap
    Straßenbahnhaltestelle Schlesisches Tor
    const x = await fetch(url);
    def main(): return sys.argv[1:]
    {"a":1,"b":[true,null],"name":"x"}
    npm ERR! code ERESOLVE unable to resolve dependency tree
    order no. XK-2291-PLQ, tracking 1Z999AA10123456784
    dGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kaW5n
    9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    https://www.example.org/xyz/qrs?tuv=wkj
    hahaha good one, see you later
    Brrr, it is cold. Hmm. Pssst! Shhh!
    The XML, JSON, YAML, TOML and CSV formats
    Warszawa, Łódź, Szczecin, Bydgoszcz, Rzeszów
    Rhodri Llywelyn and Gwenllian Prys
    Selamat pagi, apa kabar hari ini?
    Magandang umaga po sa inyong lahat
    Habari za asubuhi, rafiki yangu
    Dzień dobry, w czym mogę pomóc?
    Labas rytas, kaip sekasi?
    Tere hommikust, kuidas läheb?
    Bon dia, com va tot?
    Egun on, zer moduz zaude?
    Góðan daginn, hvað segirðu gott?
    Namaste, aap kaise hain, sab theek hai?
    Arigatou gozaimasu, mata ashita
    Ni hao, hen gaoxing renshi ni
    methylchloroisothiazolinone, polyvinylpyrrolidone
    SELECT COUNT(*) FROM t1 LEFT JOIN t2 ON t1.k = t2.k
    sudo apt-get install -y libxml2-dev zlib1g-dev
    <ul><li>one</li><li>two</li></ul>
    Kfz-Kennzeichen M-XY 1234, TÜV bis 09/27
    VLAN, QoS, OSPF, BGP, MPLS and VXLAN on one switch
    Write a poem about the sea
    bye bye, see you, good night, sleep tight
    Czech tongue twister about prst and krk
    Hvala lepa za pomoč, lep pozdrav
    Mae hen wlad fy nhadau yn annwyl i mi
  `),
};
