package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"

	"causeway/adapters/pages/web"
	"causeway/app/customers"
	"causeway/core/fault"
	"causeway/core/verification"
)

// inSession returns a page that needs a session.
func (p *Pages) inSession(serve func(*request) error) func(*request) error {
	return p.formInSession(serve, nil)
}

// formInSession returns a page that needs a session. A form of an earlier session of the same customer
// is shown again with what was entered, if the page has one; nothing is changed before it is sent again.
func (p *Pages) formInSession(serve func(*request) error, form func(*request) (*formPage, error)) func(*request) error {
	return func(r *request) error {
		secret := p.site.Session(r.Request)
		applicant, err := p.SelfService.Applicant(r.Context(), secret)
		if code := faultOf(err).Code; code == fault.NotFound || code == fault.Conflict {
			if form != nil && r.Method == http.MethodPost {
				return errEnded
			}
			return errNoSession
		}
		if err != nil {
			return err
		}
		r.secret, r.applicant = secret, applicant
		if r.Method != http.MethodPost {
			return serve(r)
		}
		if hasFile(r) {
			if !p.uploads.take(applicant.Customer) {
				return errUnavailable
			}
			defer p.uploads.release(applicant.Customer)
		}
		if err := p.readForm(r); err != nil {
			return err
		}
		if web.HasFormToken(r.Request, secret) {
			return serve(r)
		}
		if form == nil || !applicant.CanChange || r.PostFormValue("customer") != customerMark(applicant) {
			return errForged
		}
		again, err := form(r)
		if err != nil {
			return err
		}
		again.General = []string{"problem.session"}
		return p.showAgain(r, again, http.StatusUnprocessableEntity)
	}
}

// customerMark returns what names the customer in forms, so that one is not sent for another customer
// who uses the same browser later.
func customerMark(a customers.Applicant) string {
	id := a.Customer.ID.UUID()
	sum := sha256.Sum256(append([]byte("customer "), id[:]...))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// linkPage invites to open a link.
type linkPage struct{ page }

// showLink shows a link without opening it: programs that check links in messages, and browsers that
// load pages in advance, must not use it up. The browser that opened it before goes on.
func (p *Pages) showLink(r *request) error {
	token := r.PathValue("token")
	if session, err := p.SelfService.Session(r.Context(), p.site.Session(r.Request)); err == nil {
		if _, hash, ok := verification.ParseSecret(token); ok && hash == session.TokenHash {
			return redirect(r, home)
		}
	}
	name, err := p.SelfService.PlatformName(r.Context(), token)
	if err != nil {
		return linkError(err)
	}
	return p.render(r, http.StatusOK, "link.html", &linkPage{page{Title: "link.title", PlatformName: name}})
}

// openLink opens a link and begins a session. The second of two clicks finds the session of the first.
func (p *Pages) openLink(r *request) error {
	session, err := p.SelfService.Open(r.Context(), r.PathValue("token"))
	if err != nil {
		if earlier, sessionErr := p.SelfService.Session(r.Context(), p.site.Session(r.Request)); sessionErr == nil {
			if _, hash, ok := verification.ParseSecret(r.PathValue("token")); ok && hash == earlier.TokenHash {
				return redirect(r, home)
			}
		}
		return linkError(err)
	}
	p.site.SetSession(r.w, session.Secret, session.SessionExpiresAt)
	return redirect(r, home)
}

// linkError says that a link cannot be opened, whether it was used, has expired or never existed.
func linkError(err error) error {
	if code := faultOf(err).Code; code == fault.NotFound || code == fault.Conflict {
		return errors.Join(errLink, err)
	}
	return err
}
