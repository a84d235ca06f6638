package pages

import (
	"errors"
	"net/http"

	"causeway/core/fault"
)

// problem is an error that a page of its own explains.
type problem struct {
	status int
	// text is the last part of the keys of its title and text.
	text string
}

func (p *problem) Error() string { return p.text }

var (
	errNoSession   = &problem{http.StatusForbidden, "session"}
	errEnded       = &problem{http.StatusForbidden, "ended"}
	errForged      = &problem{http.StatusForbidden, "forged"}
	errTooLarge    = &problem{http.StatusRequestEntityTooLarge, "large"}
	errUnreadable  = &problem{http.StatusBadRequest, "unreadable"}
	errTooMany     = &problem{http.StatusTooManyRequests, "many"}
	errUnavailable = &problem{http.StatusServiceUnavailable, "unavailable"}
	errLink        = &problem{http.StatusGone, "link"}
	errNotFound    = &problem{http.StatusNotFound, "notFound"}
	errFailed      = &problem{http.StatusInternalServerError, "failed"}
)

// problemOf returns what a page says about an error.
func problemOf(err error) *problem {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	switch f := faultOf(err); {
	case f.Code == "":
		return errFailed
	case f.Code == fault.CustomerDeleted:
		return errLink
	case f.Code.Status() == http.StatusNotFound:
		return errNotFound
	case f.Code == fault.Conflict:
		return &problem{http.StatusConflict, "changed"}
	case f.Code == fault.RateLimited:
		return errTooMany
	case f.Code.Status() == http.StatusServiceUnavailable || f.Code == fault.NotImplemented:
		return errUnavailable
	}
	return errFailed
}

// errorPage explains a problem.
type errorPage struct {
	page
	Text string
	// Home: the session goes on.
	Home bool
}

// showError shows an error. Only those that nobody expects are logged, without the URL, which may
// have the token of a link.
func (p *Pages) showError(r *request, err error) {
	shown := problemOf(err)
	if shown == errFailed {
		p.Log.WithError(err).Error("a page of a verification failed")
	}
	data := &errorPage{page: page{Title: "error." + shown.text + ".title"}, Text: "error." + shown.text + ".text", Home: r.secret != ""}
	if err := p.render(r, shown.status, "error.html", data); err != nil {
		p.Log.WithError(err).Error("the page of an error cannot be shown")
		http.Error(r.w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// TooManyRequests says that an address sends too many requests.
func (p *Pages) TooManyRequests() http.Handler {
	return p.handler(func(*request) error { return errTooMany })
}
