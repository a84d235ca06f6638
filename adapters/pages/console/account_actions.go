package console

import (
	"encoding/hex"
	"strings"

	"causeway/core/person"
)

// factorTexts returns what a person signs in with.
func factorTexts(a person.Account) (texts []string) {
	if a.HasPassword {
		texts = append(texts, "password and codes", countOf(a.RecoveryCodes, "recovery code"))
	}
	if a.Passkeys > 0 {
		texts = append(texts, countOf(a.Passkeys, "passkey"))
	}
	if a.HasProvider {
		texts = append(texts, "single sign-on")
	}
	return texts
}

func countOf(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return itoa(n) + " " + of
}

// ofAccount returns an action on what the person signs in with. Fault: CONFLICT for a person without a password.
func (c *Console) ofAccount(r *request, a action) (action, error) {
	a.Section, a.NeedsCode, a.Back = "account", true, accountPath
	found, err := c.People.Account(r.Context(), r.in)
	if err == nil && !found.HasPassword {
		err = person.ErrNoPassword
	}
	return a, err
}

func (c *Console) changePassword(r *request) (action, error) {
	return c.ofAccount(r, action{Title: "Change the password", Does: "You sign in with the new password from now on. Your other sessions " +
		"end, also those of the command line.",
		Fields: []field{{Name: "current", Label: "Password until now", Kind: "password", Autocomplete: "current-password"},
			{Name: "password", Label: "New password", Kind: "password", Autocomplete: "new-password",
				Hint: "At least 12 characters. Several words are easy to remember."}},
		do: func(r *request) (string, error) {
			return "", c.People.ChangePassword(r.Context(), r.in, r.PostFormValue("current"), r.PostFormValue("password"))
		}})
}

func (c *Console) replaceAuthenticator(r *request) (action, error) {
	secret, image, err := c.keyOf(r, r.PostFormValue("secret"))
	if err != nil {
		return action{}, err
	}
	return c.ofAccount(r, action{Title: "Replace the application for codes", Does: "Scan this image with an application for one-time " +
		"passwords, or enter the key by hand. The application that you have until now shows codes that do not count any more.",
		QR: image, Facts: []fact{{Name: "Key", Value: secret}},
		Fields: []field{{Name: "secret", Kind: "hidden", Value: secret}, {Name: "new-code", Label: "Code of the new application",
			Autocomplete: "off"}},
		do: func(r *request) (string, error) {
			return "", c.People.ReplaceAuthenticator(r.Context(), r.in, secret, r.PostFormValue("new-code"))
		}})
}

func (c *Console) renewRecoveryCodes(r *request) (action, error) {
	return c.ofAccount(r, action{Title: "New recovery codes", Does: "Ten new codes are shown once, on the next page. Those that you have " +
		"until now do not count any more.",
		shown: func(r *request) (view, error) {
			codes, err := c.People.RenewRecoveryCodes(r.Context(), r.in)
			return view{page: c.page(r, "Your new recovery codes", "account"), Intro: "Keep these codes where nobody else finds them. Each " +
				"replaces a code of your application once. They are not shown again.",
				Sections: []section{{Pre: strings.Join(groupedCodes(codes), "\n")}},
				Actions:  []fact{actionLink("I have kept them", accountPath)}}, err
		}})
}

// endSession returns what ends another session of the person.
func (c *Console) endSession(r *request) (action, error) {
	found, err := c.People.Account(r.Context(), r.in)
	if err != nil {
		return action{}, err
	}
	for _, s := range found.Sessions {
		if hex.EncodeToString(s.TokenHash[:]) == r.PathValue("session") && s.TokenHash != r.in.TokenHash {
			return action{Title: "End the session", Section: "account", Does: "Who works in this session is signed out with the next request.",
				Facts:     add(add(add(nil, "Device", s.Device), "Begun", moment(s.CreatedAt)), "Last used", moment(s.LastUsedAt)),
				NeedsCode: true, Back: accountPath,
				do: func(r *request) (string, error) { return "", c.People.EndSession(r.Context(), r.in, s.TokenHash) }}, nil
		}
	}
	return action{}, errNotFound
}

func (c *Console) endOtherSessions(r *request) (action, error) {
	found, err := c.People.Account(r.Context(), r.in)
	return action{Title: "Sign out everywhere else", Section: "account", Does: "All your other sessions end, also those of the command " +
		"line. You stay signed in here.", Facts: add(nil, "Sessions besides this one", itoa(max(0, len(found.Sessions)-1))), NeedsCode: true,
		Back: accountPath, do: func(r *request) (string, error) { return "", c.People.EndOtherSessions(r.Context(), r.in) }}, err
}
