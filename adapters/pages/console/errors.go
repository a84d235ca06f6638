package console

import (
	"errors"
	"net/http"

	"causeway/core/fault"
	"causeway/core/person"
)

// problem is an error of the pages themselves.
type problem struct {
	status      int
	title, text string
}

func (p *problem) Error() string { return p.text }

var (
	errForged = &problem{http.StatusForbidden, "The form was not sent",
		"The form is of an earlier session. Go back, load the page again and send it once more."}
	errUnreadable = &problem{http.StatusBadRequest, "The form was not sent", "The form could not be read. Go back and send it once more."}
	errNotFound   = &problem{http.StatusNotFound, "Not found", "There is no such page. It may belong to another platform, or the address " +
		"is not complete."}
	errTooMany = &problem{http.StatusTooManyRequests, "Too many requests", "Wait a minute, and try again."}
	errFailed  = &problem{http.StatusInternalServerError, "Something went wrong",
		"The page could not be made. Try again; if it stays so, look at the log of the service."}
)

// problemOf returns what a page says about an error.
func problemOf(err error) *problem {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	f, ok := fault.As(err)
	switch {
	case !ok || f.Code.Status() == http.StatusInternalServerError:
		return errFailed
	case f.Code.Status() == http.StatusNotFound:
		return &problem{http.StatusNotFound, "Not found", f.Message}
	case f.Code == fault.Forbidden:
		return &problem{http.StatusForbidden, "Not allowed", f.Message}
	}
	return &problem{f.Code.Status(), "This cannot be shown", f.Message}
}

// errorPage explains a problem.
type errorPage struct {
	page
	Text string
}

// showError shows an error. Only those that nobody expects are logged, without the URL, which may have the token of a link.
func (c *Console) showError(r *request, err error) {
	if r.Header.Get("HX-Request") != "" { // a part of a page: the browser asks for the whole one, which says what is wrong
		r.w.Header().Set("HX-Redirect", r.URL.RequestURI())
		r.w.WriteHeader(http.StatusNoContent)
		return
	}
	if f, ok := fault.As(err); ok && f.Reason == person.ErrNoSession.Reason && r.secret == "" {
		c.askToSignIn(r)
		return
	}
	shown := problemOf(err)
	if shown == errFailed {
		c.Log.WithError(err).Error("a page of the console failed")
	}
	data := errorPage{page: c.page(r, shown.title, ""), Text: shown.text}
	if err := c.render(r, shown.status, "error.html", data); err != nil {
		c.Log.WithError(err).Error("the page of an error cannot be shown")
		http.Error(r.w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// askToSignIn leads to the page for signing in. What was to be seen is found again by its address.
func (c *Console) askToSignIn(r *request) {
	to := signInPath
	if r.Method == http.MethodGet && r.URL.Path != root {
		to += "?next=" + escapeQuery(r.URL.RequestURI())
	}
	_ = redirect(r, to)
}

// TooManyRequests says that an address sends too many requests.
func (c *Console) TooManyRequests() http.Handler {
	return c.handler(func(*request) error { return errTooMany })
}

// NotFound is the page of a path that is none.
func (c *Console) NotFound() http.Handler {
	return c.handler(c.working(func(*request) error { return errNotFound }))
}
