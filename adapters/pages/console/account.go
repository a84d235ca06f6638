package console

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

// confirmBox is what a form asks for before it moves money or gives rights.
type confirmBox struct {
	// Action is the path of the page. Confirmed: the provider has confirmed it just now.
	Action    string
	Confirmed bool
	// NoCode: who has nothing to confirm with is not asked for a code.
	NoCode bool
	// Passkeys and Provider are the ways to confirm besides a code.
	Passkeys, Provider bool
}

// AsksForCode reports whether the form has a field for a code.
func (b confirmBox) AsksForCode() bool { return !b.Confirmed && !b.NoCode }

// askToConfirm adds to a page how its form is confirmed. Only then does the page run a script.
func (c *Console) askToConfirm(r *request, p *page) error {
	keys, err := c.People.PasskeysOf(r.Context(), r.in.Person)
	if err != nil {
		return err
	}
	noCode, err := c.People.NeedsNoCode(r.Context(), r.in)
	if err != nil {
		return err
	}
	p.Confirm = confirmBox{NoCode: noCode, Action: r.URL.Path, Confirmed: c.People.IsConfirmed(r.in, r.URL.Path), Passkeys: len(keys) > 0 &&
		c.People.HasPasskeys(), Provider: c.People.HasSingleSignOn() && r.in.SingleSignOn}
	if p.Confirm.Passkeys {
		c.allowScript(r, p)
	}
	return nil
}

// allowScript lets a page run the script of passkeys, which no other page does.
func (c *Console) allowScript(r *request, p *page) {
	c.site.AllowScript(r.w.Header())
	p.Script = true
}

// confirm checks that it is still the person who works, with what the form of a page has. code is the name of the field of the code.
func (c *Console) confirm(r *request, code string) error {
	return c.People.Confirm(r.Context(), r.in, people.Confirmation{Action: r.URL.Path, Code: r.PostFormValue(code),
		Passkey: []byte(r.PostFormValue("passkey"))})
}

// asked answers the script of passkeys with what the browser is asked for, or with why it is not.
func (c *Console) asked(ask func(*request) ([]byte, error)) func(*request) error {
	return func(r *request) error {
		options, err := ask(r)
		status := http.StatusOK
		if err != nil {
			f, ok := fault.As(err)
			if !ok || f.Code.Status() >= http.StatusInternalServerError {
				return err
			}
			status = f.Code.Status()
			if options, err = json.Marshal(map[string]string{"message": f.Message}); err != nil {
				return err
			}
		}
		r.w.Header().Set("Content-Type", "application/json")
		r.w.WriteHeader(status)
		_, _ = r.w.Write(options) // the reader may have left
		return nil
	}
}

// askForConfirmation asks a passkey to confirm the form of the page that the script names.
func (c *Console) askForConfirmation(r *request) ([]byte, error) {
	return c.People.AskForConfirmation(r.Context(), r.in, r.PostFormValue("for"))
}

// accountPage shows a person what it signs in with.
type accountPage struct {
	page
	Keys []accountKey
	// CanAdd: passkeys can be used here. Problem says why none was added, and Name what it was to be called.
	CanAdd        bool
	Problem, Name string
	// Account is what the person signs in with, and Sessions where it is signed in.
	Account  person.Account
	Sessions []accountSession
	// Zone is the time zone as it is or was entered, and ZoneProblem what is wrong with it.
	Zone, ZoneProblem string
}

// accountSession is a session with the path of the page that ends it; empty for the one that shows it.
type accountSession struct {
	person.Session
	End string
}

// accountKey is a passkey with the path of the page that removes it.
type accountKey struct {
	person.Passkey
	Remove string
}

func (c *Console) showAccount(r *request) error {
	return c.accountWith(r, http.StatusOK, accountPage{})
}

func (c *Console) accountWith(r *request, status int, data accountPage) error {
	keys, err := c.People.PasskeysOf(r.Context(), r.in.Person)
	if err != nil {
		return err
	}
	data.page, data.CanAdd, data.Name = c.page(r, "Your account", "account"), c.People.HasPasskeys(), r.PostFormValue("name")
	if data.ZoneProblem == "" {
		data.Zone = r.in.Person.Zone()
	}
	if err := c.askToConfirm(r, &data.page); err != nil {
		return err
	}
	data.Confirm.Action = accountPath
	data.Confirm.Confirmed = c.People.IsConfirmed(r.in, accountPath)
	if data.CanAdd {
		c.allowScript(r, &data.page)
	}
	if data.Account, err = c.People.Account(r.Context(), r.in); err != nil {
		return err
	}
	for _, s := range data.Account.Sessions {
		shown := accountSession{Session: s}
		if s.TokenHash != r.in.TokenHash {
			shown.End = sessionsPath + "/" + hex.EncodeToString(s.TokenHash[:]) + "/end"
		}
		data.Sessions = append(data.Sessions, shown)
	}
	for _, k := range keys {
		data.Keys = append(data.Keys, accountKey{k, passkeysPath + "/" + base64.RawURLEncoding.EncodeToString(k.ID) + "/remove"})
	}
	return c.render(r, status, "account.html", data)
}

// setTimeZone sets the zone in which the person sees times.
func (c *Console) setTimeZone(r *request) error {
	err := c.People.SetTimeZone(r.Context(), r.in, r.PostFormValue("zone"))
	if err == nil {
		return redirect(r, accountPath)
	}
	f, ok := fault.As(err)
	if !ok || f.Code.Status() >= http.StatusInternalServerError {
		return err
	}
	return c.accountWith(r, f.Code.Status(), accountPage{ZoneProblem: problemText(f), Zone: r.PostFormValue("zone")})
}

// askForPasskey asks a browser for a new passkey of the person, who confirms it on the page of its account.
func (c *Console) askForPasskey(r *request) ([]byte, error) {
	return c.People.AskForPasskey(r.Context(), r.in, people.Confirmation{Action: accountPath, Code: r.PostFormValue("code"),
		Passkey: []byte(r.PostFormValue("passkey"))})
}

func (c *Console) addPasskey(r *request) error {
	_, err := c.People.AddPasskey(r.Context(), r.in, r.PostFormValue("name"), []byte(r.PostFormValue("answer")))
	if err == nil {
		return redirect(r, accountPath)
	}
	f, ok := fault.As(err)
	if !ok || f.Code.Status() >= http.StatusInternalServerError {
		return err
	}
	return c.accountWith(r, f.Code.Status(), accountPage{Problem: problemText(f)})
}

// removePasskey returns what removes a passkey of the person.
func (c *Console) removePasskey(r *request) (action, error) {
	keys, err := c.People.PasskeysOf(r.Context(), r.in.Person)
	if err != nil {
		return action{}, err
	}
	for _, k := range keys {
		if base64.RawURLEncoding.EncodeToString(k.ID) == r.PathValue("passkey") {
			return action{Title: "Remove " + k.Name, Section: "account", Does: "You no longer sign in with this passkey. It stays on its " +
				"device, where you can delete it.", Facts: add(add(nil, "Added", moment(k.CreatedAt)), "Last used", moment(k.LastUsedAt)),
				NeedsCode: true, Back: accountPath,
				do: func(r *request) (string, error) { return "", c.People.RemovePasskey(r.Context(), r.in, k.ID) }}, nil
		}
	}
	return action{}, errNotFound
}

// signInWithPasskey begins the session of a person whose passkey has answered.
func (c *Console) signInWithPasskey(r *request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	in, err := c.People.SignInWithPasskey(r.Context(), []byte(r.PostFormValue("passkey")))
	if err != nil {
		return c.notSignedIn(r, err)
	}
	return c.begin(r, in, ownPath(r.PostFormValue("next")))
}

// askForSignIn asks a browser for any passkey of the service.
func (c *Console) askForSignIn(r *request) ([]byte, error) { return c.People.AskForSignIn(r.Context()) }
