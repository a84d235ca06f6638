package console

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html/template"
	"image/png"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/pquerna/otp"

	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

func escapeQuery(text string) string { return url.QueryEscape(text) }

// signInPage asks for what a person signs in with.
type signInPage struct {
	page
	Email, Next, Problem string
	// Passkeys and Provider are the ways to sign in besides a password and a code.
	Passkeys, Provider bool
}

func (c *Console) signInWith(r *request, status int, data signInPage) error {
	data.page, data.Passkeys, data.Provider = c.page(r, "Sign in", ""), c.People.HasPasskeys(), c.People.HasSingleSignOn()
	if data.Passkeys {
		c.allowScript(r, &data.page)
	}
	return c.render(r, status, "sign_in.html", data)
}

func (c *Console) showSignIn(r *request) error {
	if _, err := c.People.Session(r.Context(), c.site.Session(r.Request)); err == nil {
		return redirect(r, ownPath(r.URL.Query().Get("next")))
	}
	return c.signInWith(r, http.StatusOK, signInPage{Next: r.URL.Query().Get("next")})
}

func (c *Console) signIn(r *request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	in, err := c.People.SignIn(r.Context(), r.PostFormValue("email"), r.PostFormValue("password"), r.PostFormValue("code"))
	if err != nil {
		return c.notSignedIn(r, err)
	}
	return c.begin(r, in, ownPath(r.PostFormValue("next")))
}

// notSignedIn shows the page for signing in with the reason for which nobody was.
func (c *Console) notSignedIn(r *request, err error) error {
	data := signInPage{Email: r.PostFormValue("email"), Next: r.PostFormValue("next")}
	if f, ok := fault.As(err); ok && f.Code.Status() < http.StatusInternalServerError {
		if f.RetryAfter > 0 {
			r.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
		data.Problem = f.Message
		return c.signInWith(r, f.Code.Status(), data)
	}
	if known, ok := errors.AsType[*problem](err); ok {
		data.Problem = known.text
		return c.signInWith(r, known.status, data)
	}
	return err
}

// begin gives the browser a session and goes to a page.
func (c *Console) begin(r *request, in people.SignedIn, to string) error {
	c.continueIn(r, in)
	return redirect(r, to)
}

// continueIn gives the browser a session that has just begun. What the browser calls itself is worth no sign-in, nor the recovery codes
// that are shown once.
func (c *Console) continueIn(r *request, in people.SignedIn) {
	c.site.SetSession(r.w, in.Secret, in.ExpiresAt)
	if err := c.People.NameDevice(r.Context(), in, r.UserAgent()); err != nil {
		c.Log.WithError(err).Warn("the device of a session was not stored")
	}
}

// ownPath returns a path of the console, whatever a link says. Browsers leave it with dots and backslashes, also escaped ones.
func ownPath(next string) string {
	to, err := url.Parse(next)
	if err != nil || to.Scheme != "" || to.Host != "" || strings.Contains(to.Path, `\`) || path.Clean(to.Path) != to.Path ||
		to.Path != root && !strings.HasPrefix(to.Path, root+"/") {
		return root
	}
	return next
}

// linkPage invites to open a link.
type linkPage struct {
	page
	Name string
}

// showLink shows a link without opening it: programs that check links in messages must not use it up.
func (c *Console) showLink(r *request) error {
	if next := r.URL.Query().Get("next"); next != "" {
		if in, err := c.People.Session(r.Context(), c.site.Session(r.Request)); err == nil && !in.Setup {
			return redirect(r, ownPath(next))
		}
	}
	p, err := c.People.Linked(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "link.html", linkPage{c.page(r, "Welcome", ""), p.Name})
}

func (c *Console) openLink(r *request) error {
	in, err := c.People.OpenLink(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	return c.begin(r, in, ownPath(r.URL.Query().Get("next")))
}

// setupPage asks a person to choose its password and second factor.
type setupPage struct {
	page
	Secret   string
	QR       template.URL
	Problems map[string]string
}

func (c *Console) showSetup(r *request) error {
	return c.askForSetup(r, http.StatusOK, c.People.NewTOTPSecret(), nil)
}

func (c *Console) askForSetup(r *request, status int, secret string, problems map[string]string) error {
	secret, image, err := c.keyOf(r, secret)
	if err != nil {
		return err
	}
	return c.render(r, status, "setup.html", setupPage{c.page(r, "Choose your password", ""), secret, image, problems})
}

// keyOf returns the image of a secret; of a new one for a text that the page has not given.
func (c *Console) keyOf(r *request, secret string) (string, template.URL, error) {
	image, err := qrCode(secret, r.in.Person.Email)
	if err != nil || secret == "" {
		secret = c.People.NewTOTPSecret()
		image, err = qrCode(secret, r.in.Person.Email)
	}
	return secret, image, err
}

// qrCode returns the image of a secret, as applications for second factors read it.
func qrCode(secret, email string) (template.URL, error) {
	label := url.PathEscape("Causeway:" + email)
	key, err := otp.NewKeyFromURL("otpauth://totp/" + label + "?" + url.Values{"secret": {secret}, "issuer": {"Causeway"}}.Encode())
	if err != nil {
		return "", err
	}
	image, err := key.Image(200, 200)
	if err != nil {
		return "", err
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, image); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(encoded.Bytes())), nil
}

// recoveryPage shows the recovery codes.
type recoveryPage struct {
	page
	Codes []string
}

// groupedCodes returns recovery codes as they are shown.
func groupedCodes(codes []string) []string {
	shown := make([]string, len(codes))
	for i, code := range codes {
		shown[i] = person.GroupRecoveryCode(code)
	}
	return shown
}

func (c *Console) setUp(r *request) error {
	secret := r.PostFormValue("secret")
	in, codes, err := c.People.SetUp(r.Context(), r.secret, people.Setup{Password: r.PostFormValue("password"), TOTPSecret: secret,
		Code: r.PostFormValue("code")})
	if f, ok := fault.As(err); ok && f.Code == fault.InvalidInput {
		problems := map[string]string{}
		for _, field := range f.Fields {
			problems[field.Field] = field.Message
		}
		return c.askForSetup(r, http.StatusUnprocessableEntity, secret, problems)
	}
	if err != nil {
		return err
	}
	c.continueIn(r, in)
	r.secret, r.in = in.Secret, in
	return c.render(r, http.StatusOK, "recovery.html", recoveryPage{c.page(r, "Recovery codes", ""), groupedCodes(codes)})
}

func (c *Console) signOut(r *request) error {
	if err := c.People.SignOut(r.Context(), r.secret); err != nil {
		return err
	}
	c.site.EndSession(r.w)
	return redirect(r, signInPath)
}
