"""Names of people from many places in their own script, with the local part of their e-mail address."""

import unicodedata
from dataclasses import dataclass
from random import Random
from typing import Final

# portal language; given names; family names. "native|latin" where the mailbox cannot be derived from the name.
_PLACES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "de",
        "Anna Lukas Hannah Jonas Lea Felix Marie Paul Charlotte Maximilian Frieda Emil Käthe Jürgen Finn Greta",
        "Müller Schäfer Hoffmann Brandt Weiß Lüders Petersen Krüger Vogel Köhler Winter Jäger Böhm Sommer",
    ),
    ("de", "Elif Emre Zeynep Can Ayşe Deniz Selin Yağmur Kaan", "Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Arslan"),
    ("en", "Amara Tunde Chidi Ngozi Oluwaseun Folasade Ifeanyi", "Okonkwo Okafor Adeyemi Eze Balogun Nwosu"),
    ("en", "Priya Gaurav Ananya Rohan Meera Arjun Kavya", "Raman Deshpande Iyer Chatterjee Patel Krishnan Singh"),
    ("en", "Fatoumata Ousmane Aïssatou Mamadou Khady", "Diallo Traoré Sow Ndiaye Keïta Cissé"),
    ("de", "Bartosz Tomasz Michał Łukasz Paweł Kacper", "Wiśniewski Nowak Kowalczyk Zieliński Wójcik Dąbrowski"),
    ("de", "Katarzyna Małgorzata Agnieszka Julia Zofia", "Wiśniewska Nowak Kowalczyk Zielińska Wójcik Dąbrowska"),
    ("en", "Chiara Matteo Giulia Lorenzo Sofia Niccolò", "Esposito Ricci D’Angelo Greco Bianchi Colombo"),
    ("en", "Lucía Javier Ximena Íñigo Camila Andrés", "Fernández-Ortega Núñez Guzmán Ibáñez Quispe Muñoz"),
    ("en", "Anh Minh Linh Hương Quân Thảo", "Lê Nguyễn Trần Phạm Vũ Đặng"),
    ("en", "Quentin Chloé Hélène Benoît Zoé Maël", "Lefèvre Dubois Lambert Girard Morel François"),
    ("en", "Ibrahim Layla Yusuf Noor Khalid Rania", "Al-Sayed Haddad Mansour El-Masri Nasser"),
    ("en", "محمد|mohammad ليلى|layla يوسف|yusuf نور|noor فاطمة|fatima", "الخطيب|alkhatib حداد|haddad منصور|mansour المصري|almasri"),
    (
        "en",
        "Олександр|oleksandr Дмитро|dmytro Андрій|andrii Оксана|oksana Ірина|iryna",
        "Шевченко|shevchenko Коваленко|kovalenko Бондаренко|bondarenko",
    ),
    ("en", "Γιώργος|giorgos Νίκος|nikos Δημήτρης|dimitris", "Παπαδόπουλος|papadopoulos Οικονόμου|oikonomou Νικολάου|nikolaou"),
    ("en", "伟|wei 芳|fang 秀英|xiuying 子涵|zihan 欣怡|xinyi", "王|wang 李|li 张|zhang 陈|chen 刘|liu"),
    ("en", "さくら|sakura 陽翔|haruto 結衣|yui 蓮|ren", "佐藤|sato 鈴木|suzuki 高橋|takahashi 田中|tanaka"),
    ("en", "서연|seoyeon 민준|minjun 지우|jiwoo 도윤|doyun", "김|kim 이|lee 박|park 최|choi"),
    ("en", "אורי|uri נועה|noa תמר|tamar איתי|itai", "כהן|cohen לוי|levi מזרחי|mizrahi פרץ|peretz"),
    ("en", "Aoife Seán Niamh Ciarán Siobhán", "O’Brien Ní-Bhriain MacCarthy Byrne Ó-Conaill"),
    ("en", "Þórunn Björn Guðrún Sigríður", "Jónsdóttir Einarsson Sigurðardóttir Magnússon"),
)
_FAMILY_FIRST: Final = frozenset("王李张陈刘佐鈴高田김이박최")
_LATIN: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae"}
)


@dataclass(frozen=True, slots=True)
class PersonName:
    """A person's full name; `mailbox` is ASCII; `language` is a language of the portal."""

    full: str
    mailbox: str
    language: str


def make_name(random: Random) -> PersonName:
    """Pick a random name."""
    language, given_names, family_names = random.choice(_PLACES)
    given, family = (_split_latin(random.choice(names.split())) for names in (given_names, family_names))
    full = (
        f"{family[0]}{given[0]}" if family[0][0] in _FAMILY_FIRST else f"{given[0]} {family[0].replace('Ní-', 'Ní ').replace('Ó-', 'Ó ')}"
    )
    return PersonName(full, f"{given[1]}.{family[1]}", language)


def _split_latin(native: str) -> tuple[str, str]:
    shown, bar, latin = native.partition("|")
    return shown, latin if bar else to_ascii(shown)


def to_ascii(text: str) -> str:
    """Return the letters and digits of a Latin text without diacritics, with dots and hyphens, in lower case."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_LATIN))
    return "".join(character for character in plain if character.isascii() and (character.isalnum() or character in ".-"))
