package console

import (
	"net/http"
	"time"

	"causeway/app/people"
)

// browserSecretLifetime is how long a browser is known that was sent to the provider.
const browserSecretLifetime = time.Hour

// browserSecret returns the secret by which a browser is known when it comes back from the provider. Another site cannot make it come back
// as somebody else: it does not have the secret.
func (c *Console) browserSecret(r *request) string {
	secret := c.provider.Session(r.Request)
	if secret == "" {
		secret = c.People.NewBrowserSecret()
	}
	c.provider.SetSession(r.w, secret, c.Clock.Now().Add(browserSecretLifetime))
	return secret
}

// beginSingleSignOn sends a browser to the provider to sign in. It is a link and no form, because a browser that is sent on with a form
// stays on the site, as the policy of the pages says.
func (c *Console) beginSingleSignOn(r *request) error {
	to, err := c.People.BeginSingleSignOn(r.Context(), c.browserSecret(r), ownPath(r.URL.Query().Get("next")))
	if err != nil {
		return c.notSignedIn(r, err)
	}
	return redirect(r, to)
}

// confirmAtProvider sends the browser of a session to the provider, where its person signs in again to confirm the form of a page.
func (c *Console) confirmAtProvider(r *request) error {
	to, err := c.People.BeginProviderConfirmation(r.Context(), r.in, c.browserSecret(r), ownPath(r.URL.Query().Get("for")))
	if err != nil {
		return err
	}
	return redirect(r, to)
}

// returnFromProvider goes on with a browser that has come back.
func (c *Console) returnFromProvider(r *request) error {
	secret := c.site.Session(r.Request)
	in, err := c.People.Session(r.Context(), secret)
	if err != nil {
		in = people.SignedIn{} // it signs in
	}
	query := r.URL.Query()
	if query.Get("error") != "" { // such as access_denied
		return c.notSignedIn(r, errNotReturned)
	}
	returned, err := c.People.ReturnFromProvider(r.Context(), in, c.provider.Session(r.Request), query.Get("state"), query.Get("code"))
	if err != nil {
		return c.notSignedIn(r, err)
	}
	if returned.SignedIn == nil {
		return redirect(r, ownPath(returned.To))
	}
	return c.begin(r, *returned.SignedIn, ownPath(returned.To))
}

var errNotReturned = &problem{http.StatusUnauthorized, "Not signed in", "Your provider has not signed you in. Start again."}
