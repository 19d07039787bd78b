"""The mean vector of questions in many languages (memories/centre.py), made anew.

python -m tests.centres
"""

import base64
import textwrap

import numpy as np
import numpy.typing as npt

from memories.embedder import PackagedEmbedder

# One of a manual, of a lexicon, of a project, a command, one of a talk; each language
# counts alike.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "How do I install this program on my computer?",
        "Who was the first president of the country?",
        "What did we decide about the database last week?",
        "Show all files in this folder.",
        "Where did she go on holiday, and why?",
    ),
    "de": (
        "Wie installiere ich dieses Programm auf meinem Rechner?",
        "Wer war der erste Präsident des Landes?",
        "Was haben wir letzte Woche über die Datenbank beschlossen?",
        "Alle Dateien in diesem Ordner anzeigen.",
        "Wohin ist sie in den Urlaub gefahren und warum?",
    ),
    "fr": (
        "Comment installer ce programme sur mon ordinateur ?",
        "Qui fut le premier président du pays ?",
        "Qu'avons-nous décidé la semaine dernière au sujet de la base de données ?",
        "Afficher tous les fichiers de ce dossier.",
        "Où est-elle partie en vacances, et pourquoi ?",
    ),
    "es": (
        "¿Cómo instalo este programa en mi ordenador?",
        "¿Quién fue el primer presidente del país?",
        "¿Qué decidimos la semana pasada sobre la base de datos?",
        "Mostrar todos los archivos de esta carpeta.",
        "¿Adónde fue de vacaciones y por qué?",
    ),
    "it": (
        "Come installo questo programma sul mio computer?",
        "Chi fu il primo presidente del paese?",
        "Che cosa abbiamo deciso la settimana scorsa sul database?",
        "Mostra tutti i file in questa cartella.",
        "Dove è andata in vacanza e perché?",
    ),
    "pt": (
        "Como instalo este programa no meu computador?",
        "Quem foi o primeiro presidente do país?",
        "O que decidimos na semana passada sobre o banco de dados?",
        "Mostrar todos os arquivos desta pasta.",
        "Para onde ela foi de férias e por quê?",
    ),
    "nl": (
        "Hoe installeer ik dit programma op mijn computer?",
        "Wie was de eerste president van het land?",
        "Wat hebben we vorige week over de database besloten?",
        "Toon alle bestanden in deze map.",
        "Waar ging ze op vakantie en waarom?",
    ),
    "pl": (
        "Jak zainstalować ten program na moim komputerze?",
        "Kto był pierwszym prezydentem kraju?",
        "Co postanowiliśmy w zeszłym tygodniu w sprawie bazy danych?",
        "Pokaż wszystkie pliki w tym folderze.",
        "Dokąd pojechała na wakacje i dlaczego?",
    ),
    "ro": (
        "Cum instalez acest program pe calculatorul meu?",
        "Cine a fost primul președinte al țării?",
        "Ce am hotărât săptămâna trecută despre baza de date?",
        "Afișează toate fișierele din acest dosar.",
        "Unde a plecat în vacanță și de ce?",
    ),
    "tr": (
        "Bu programı bilgisayarıma nasıl kurarım?",
        "Ülkenin ilk cumhurbaşkanı kimdi?",
        "Geçen hafta veritabanı hakkında ne karar verdik?",
        "Bu klasördeki tüm dosyaları göster.",
        "Tatile nereye gitti ve neden?",
    ),
    "ru": (
        "Как установить эту программу на мой компьютер?",
        "Кто был первым президентом страны?",
        "Что мы решили на прошлой неделе насчёт базы данных?",
        "Показать все файлы в этой папке.",
        "Куда она поехала в отпуск и почему?",
    ),
    "uk": (
        "Як встановити цю програму на мій комп'ютер?",
        "Хто був першим президентом країни?",
        "Що ми вирішили минулого тижня щодо бази даних?",
        "Показати всі файли в цій теці.",
        "Куди вона поїхала у відпустку і чому?",
    ),
    "el": (
        "Πώς εγκαθιστώ αυτό το πρόγραμμα στον υπολογιστή μου;",
        "Ποιος ήταν ο πρώτος πρόεδρος της χώρας;",
        "Τι αποφασίσαμε την περασμένη εβδομάδα για τη βάση δεδομένων;",
        "Εμφάνιση όλων των αρχείων σε αυτόν τον φάκελο.",
        "Πού πήγε διακοπές και γιατί;",
    ),
    "ar": (
        "كيف أثبت هذا البرنامج على حاسوبي؟",
        "من كان أول رئيس للبلاد؟",
        "ماذا قررنا الأسبوع الماضي بشأن قاعدة البيانات؟",
        "اعرض جميع الملفات في هذا المجلد.",
        "إلى أين ذهبت في العطلة ولماذا؟",
    ),
    "hi": (
        "मैं यह प्रोग्राम अपने कंप्यूटर पर कैसे स्थापित करूँ?",
        "देश के पहले राष्ट्रपति कौन थे?",
        "पिछले सप्ताह हमने डेटाबेस के बारे में क्या तय किया?",
        "इस फ़ोल्डर की सभी फ़ाइलें दिखाएँ।",
        "वह छुट्टियों में कहाँ गई और क्यों?",
    ),
    "th": (
        "ฉันจะติดตั้งโปรแกรมนี้บนคอมพิวเตอร์ได้อย่างไร",
        "ใครเป็นประธานาธิบดีคนแรกของประเทศ",
        "สัปดาห์ที่แล้วเราตัดสินใจอะไรเกี่ยวกับฐานข้อมูล",
        "แสดงไฟล์ทั้งหมดในโฟลเดอร์นี้",
        "เธอไปเที่ยวพักผ่อนที่ไหน และทำไม",
    ),
    "vi": (
        "Làm thế nào để cài đặt chương trình này trên máy tính của tôi?",
        "Ai là tổng thống đầu tiên của đất nước?",
        "Tuần trước chúng ta đã quyết định gì về cơ sở dữ liệu?",
        "Hiển thị tất cả các tệp trong thư mục này.",
        "Cô ấy đã đi nghỉ ở đâu và tại sao?",
    ),
    "zh": (
        "我怎样在电脑上安装这个程序?",
        "这个国家的第一任总统是谁?",
        "上周我们对数据库做了什么决定?",
        "显示此文件夹中的所有文件。",
        "她去哪里度假了,为什么?",
    ),
    "ja": (
        "このプログラムをパソコンにインストールするにはどうすればよいですか?",
        "その国の初代大統領は誰でしたか?",
        "先週、データベースについて何を決めましたか?",
        "このフォルダーのすべてのファイルを表示する。",
        "彼女は休暇でどこへ、なぜ行ったのですか?",
    ),
    "ko": (
        "이 프로그램을 내 컴퓨터에 어떻게 설치하나요?",
        "그 나라의 첫 대통령은 누구였나요?",
        "지난주에 데이터베이스에 대해 무엇을 결정했나요?",
        "이 폴더의 모든 파일을 표시합니다.",
        "그녀는 휴가를 어디로, 왜 갔나요?",
    ),
}


def mean(model: PackagedEmbedder) -> npt.NDArray[np.float32]:
    """The mean of the vectors of all questions, shape (dimensions,)."""
    texts = [text for texts in QUESTIONS.values() for text in texts]
    vectors = [model.embed_query(text) for text in texts]
    return np.asarray(np.mean(vectors, axis=0), np.float32)


def encoded(vector: npt.NDArray[np.float32]) -> tuple[str, float]:
    """A vector as int8 levels in base64, and the value of the highest level."""
    scale = float(np.abs(vector).max())
    levels = np.round(vector / scale * 127).astype(np.int8)
    return base64.b64encode(levels.tobytes()).decode(), round(scale, 6)


if __name__ == "__main__":
    text, scale = encoded(mean(PackagedEmbedder()))
    print("\n".join(textwrap.wrap(text, 80)))
    print(scale)
