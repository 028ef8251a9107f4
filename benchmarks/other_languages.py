"""German and Chinese bullets, written by hand: the real transcripts are English.

Each source is a few events of one piece of work. Each bullet restates one thing in
other words, or changes one thing.
"""

GERMAN = [
    "Ich habe den Export nach CSV in export.py eingebaut; alle 23 Tests laufen durch.",
    "Die Suche antwortet jetzt in 40 Millisekunden, vorher waren es 900.",
    "Der Server startet auf Port 9090 neu, sobald sich die Konfiguration ändert.",
    "Bitte lösche die alten Protokolle, aber behalte die Rechnungen von 2023.",
    "Der Cache ist standardmäßig ausgeschaltet, weil er zu viel Speicher braucht.",
    "Die Migration läuft vor dem Import und dauert etwa 12 Minuten.",
    "Zwei von sieben Aufträgen sind fehlgeschlagen, weil die Verbindung abbrach.",
    "Die Anmeldung prüft das Passwort in src/login/check.py und sperrt"
    " nach 5 Versuchen.",
]
CHINESE = [
    "我在 export.py 里加入了导出功能，所有23个测试都通过了。",
    "搜索现在只需要40毫秒，以前需要900毫秒。",
    "配置改变后，服务器会在9090端口重新启动。",
    "请删除旧的图片，但保留2023年的发票。",
    "缓存默认是关闭的，因为它占用太多内存。",
    "迁移在导入之前运行，大约需要12分钟。",
    "七个任务中有2个失败了，因为连接中断。",
    "登录在 src/login/check.py 里检查密码，5次失败后锁定账户。",
]
BULLETS: dict[str, tuple[list[str], list[str]]] = {
    "German, true": (
        GERMAN,
        [
            "Export nach CSV in export.py eingebaut, alle 23 Tests laufen durch",
            "Die Suche antwortet in 40 Millisekunden statt vorher 900",
            "Sobald sich die Konfiguration ändert, startet der Server auf Port"
            " 9090 neu",
            "Der Benutzer bat, die alten Protokolle zu löschen, aber die Rechnungen von"
            " 2023 zu behalten",
            "Der Cache ist ausgeschaltet, weil er zu viel Speicher braucht",
            "Die Migration dauert etwa 12 Minuten und läuft vor dem Import",
            "2 von 7 Aufträgen sind fehlgeschlagen, weil die Verbindung abbrach",
            "Das Passwort prüft src/login/check.py, gesperrt wird nach 5 Versuchen",
        ],
    ),
    "German, number or unit changed": (
        GERMAN,
        [
            "Export nach CSV in export.py eingebaut, alle 32 Tests laufen durch",
            "Export nach CSV in export.py eingebaut, alle 23 Dateien laufen durch",
            "Die Suche antwortet jetzt in 40 Sekunden, vorher waren es 900",
            "Die Suche antwortet jetzt in 900 Millisekunden, vorher waren es 40",
            "Der Server startet auf Port 9091 neu, sobald sich die Konfiguration"
            " ändert",
            "Die Rechnungen von 2022 werden behalten, die alten Protokolle gelöscht",
            "Die Migration läuft vor dem Import und dauert etwa 12 Stunden",
            "Drei von sieben Aufträgen sind fehlgeschlagen, weil die Verbindung"
            " abbrach",
            "Sieben von zwei Aufträgen sind fehlgeschlagen, weil die Verbindung"
            " abbrach",
            "Die Anmeldung prüft das Passwort und sperrt nach 5 Minuten",
        ],
    ),
    "German, name changed": (
        GERMAN,
        [
            "Export nach CSV in import.py eingebaut, alle 23 Tests laufen durch",
            "Die Anmeldung prüft das Passwort in src/admin/check.py",
            "Die Anmeldung prüft das Passwort in lib/login/check.py",
        ],
    ),
    "German, denied or the opposite": (
        GERMAN,
        [
            "Export nach CSV in export.py nicht eingebaut, alle 23 Tests laufen durch",
            "Export nach CSV in export.py eingebaut, kaum einer der 23 Tests läuft"
            " durch",
            "Keiner der 23 Tests läuft durch, Export nach CSV in export.py eingebaut",
            "Der Server startet nie auf Port 9090 neu, sobald sich die Konfiguration"
            " ändert",
            "Der Cache ist standardmäßig eingeschaltet, weil er zu viel Speicher"
            " braucht",
            "Die Migration läuft nach dem Import und dauert etwa 12 Minuten",
            "Zwei von sieben Aufträgen waren erfolgreich, weil die Verbindung abbrach",
            "Bitte behalte die alten Protokolle, aber lösche die Rechnungen von 2023",
            "Bitte lösche die neuen Protokolle, aber behalte die Rechnungen von 2023",
        ],
    ),
    "Chinese, true": (
        CHINESE,
        [
            "在 export.py 里加入导出功能，23个测试都通过了",
            "搜索现在需要40毫秒，以前900毫秒",
            "服务器在9090端口重新启动，配置改变后",
            "用户请求删除旧的图片，但保留2023年的发票",
            "缓存默认关闭，因为占用太多内存",
            "迁移大约需要12分钟，在导入之前运行",
            "有2个任务失败了，因为连接中断",
            "登录检查密码，5次失败后锁定账户",
        ],
    ),
    "Chinese, number or unit changed": (
        CHINESE,
        [
            "在 export.py 里加入导出功能，所有32个测试都通过了",
            "在 export.py 里加入导出功能，所有23个文件都通过了",
            "搜索现在只需要40秒，以前需要900毫秒",
            "搜索现在只需要900毫秒，以前需要40毫秒",
            "配置改变后，服务器会在9091端口重新启动",
            "请删除旧的图片，但保留2022年的发票",
            "迁移在导入之前运行，大约需要12小时",
            "七个任务中有3个失败了，因为连接中断",
            "登录检查密码，6次失败后锁定账户",
            "登录检查密码，5分钟后锁定账户",
        ],
    ),
    "Chinese, name changed": (
        CHINESE,
        [
            "在 import.py 里加入导出功能，所有23个测试都通过了",
            "登录在 src/admin/check.py 里检查密码，5次失败后锁定账户",
            "登录在 lib/login/check.py 里检查密码，5次失败后锁定账户",
        ],
    ),
    "Chinese, denied or the opposite": (
        CHINESE,
        [
            "没有在 export.py 里加入导出功能，所有23个测试都通过了",
            "在 export.py 里加入导出功能，所有23个测试都失败了",
            "在 export.py 里加入导出功能，所有23个测试几乎都通过了",
            "配置改变后，服务器不会在9090端口重新启动",
            "请保留旧的图片，但删除2023年的发票",
            "请删除新的图片，但保留2023年的发票",
            "缓存默认是打开的，因为它占用太多内存",
            "迁移在导入之后运行，大约需要12分钟",
            "七个任务中有2个成功了，因为连接中断",
        ],
    ),
}
"""Classes, each with its source and its bullets."""
