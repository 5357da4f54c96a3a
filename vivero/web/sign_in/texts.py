"""The texts of the pages of sign-in, in English, Spanish and Portuguese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Language = Literal["en", "es", "pt"]
LANGUAGES: Mapping[Language, str] = {"en": "English", "es": "Español", "pt": "Português"}

Text = Literal[
    "sign_in", "username", "password", "submit", "with_provider", "change", "current", "new", "repeat", "save",
    "sign_out", "sign_out_all", "wrong", "too_many", "unavailable", "refused", "taken", "foreign", "differ", "length",
    "changed", "going_on", "go_on",
]  # fmt: skip

TEXTS: Mapping[Language, Mapping[Text, str]] = {
    "en": {
        "sign_in": "Sign in",
        "username": "User name",
        "password": "Password",
        "submit": "Sign in",
        "with_provider": "Sign in with {provider}",
        "change": "Change the password",
        "current": "Current password",
        "new": "New password",
        "repeat": "New password, again",
        "save": "Change the password",
        "sign_out": "Sign out",
        "sign_out_all": "Sign out everywhere",
        "wrong": "The user name or the password is wrong.",
        "too_many": "There were too many attempts. Try again in {seconds} seconds.",
        "unavailable": "The server cannot check this at present. Try again later.",
        "refused": "The identity provider did not confirm who you are. Try again.",
        "taken": "Another user of this server has your name. Sign in with the password, or ask an administrator.",
        "foreign": "The form came from another page. Open this page again and repeat it.",
        "differ": "The new passwords differ.",
        "length": "A password has 8 to 1,024 characters.",
        "changed": "The password is changed. All other sessions have ended.",
        "going_on": "You are signed in.",
        "go_on": "Go on",
    },
    "es": {
        "sign_in": "Iniciar sesión",
        "username": "Usuario",
        "password": "Contraseña",
        "submit": "Iniciar sesión",
        "with_provider": "Iniciar sesión con {provider}",
        "change": "Cambiar la contraseña",
        "current": "Contraseña actual",
        "new": "Contraseña nueva",
        "repeat": "Contraseña nueva, otra vez",
        "save": "Cambiar la contraseña",
        "sign_out": "Cerrar sesión",
        "sign_out_all": "Cerrar sesión en todas partes",
        "wrong": "El usuario o la contraseña no son correctos.",
        "too_many": "Hubo demasiados intentos. Inténtelo de nuevo en {seconds} segundos.",
        "unavailable": "El servidor no puede comprobarlo ahora. Inténtelo más tarde.",
        "refused": "El proveedor de identidad no confirmó quién es usted. Inténtelo de nuevo.",
        "taken": "Otro usuario de este servidor tiene su nombre. Entre con la contraseña o pida ayuda.",
        "foreign": "El formulario vino de otra página. Abra esta página otra vez y repítalo.",
        "differ": "Las contraseñas nuevas no coinciden.",
        "length": "Una contraseña tiene de 8 a 1.024 caracteres.",
        "changed": "La contraseña ha cambiado. Todas las demás sesiones han terminado.",
        "going_on": "Ha iniciado sesión.",
        "go_on": "Continuar",
    },
    "pt": {
        "sign_in": "Entrar",
        "username": "Usuário",
        "password": "Senha",
        "submit": "Entrar",
        "with_provider": "Entrar com {provider}",
        "change": "Alterar a senha",
        "current": "Senha atual",
        "new": "Nova senha",
        "repeat": "Nova senha, outra vez",
        "save": "Alterar a senha",
        "sign_out": "Sair",
        "sign_out_all": "Sair em todos os lugares",
        "wrong": "O usuário ou a senha está errado.",
        "too_many": "Houve tentativas demais. Tente de novo em {seconds} segundos.",
        "unavailable": "O servidor não pode verificar isso agora. Tente mais tarde.",
        "refused": "O provedor de identidade não confirmou quem você é. Tente de novo.",
        "taken": "Outro usuário deste servidor tem o seu nome. Entre com a senha ou peça ajuda.",
        "foreign": "O formulário veio de outra página. Abra esta página de novo e repita.",
        "differ": "As novas senhas são diferentes.",
        "length": "Uma senha tem de 8 a 1.024 caracteres.",
        "changed": "A senha foi alterada. Todas as outras sessões terminaram.",
        "going_on": "Você entrou.",
        "go_on": "Continuar",
    },
}


def language(asked: str | None, best: str | None) -> Language:
    """The language that the query asks for, or the best of those that the browser accepts; otherwise English."""
    known = {each: each for each in get_args(Language)}
    return known.get(asked) or known.get((best or "")[:2]) or "en"
