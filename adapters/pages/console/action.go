package console

import (
	"html/template"
	"net/http"
	"strings"

	"causeway/core/fault"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
)

// action is something that a person can do. It has a page of its own that says before what it will do, and does it when its form is
// sent.
type action struct {
	// Title is that of the page and of its button, and Section that of the navigation.
	Title, Section string
	// Does says what will happen.
	Does  string
	Facts []fact
	// QR is the image of a key that an application has to read; empty for none.
	QR     template.URL
	Fields []field
	// File is the label of the file that its form takes; empty for none. Only the page of importPath may have one.
	File string
	// NeedsCode: it moves money or gives rights, so it takes another code of the second factor.
	NeedsCode bool
	// Record is what is recorded of the person before it is done; without a kind nothing is, because the use case does. A refusal is
	// recorded with it.
	Record platform.OperatorAction
	// RecordsItself: the use case records what is done, and here only its refusal is.
	RecordsItself bool
	// Back is the page of what it is done to.
	Back string
	// do does it, and returns the page to go to; Back if that is empty.
	do func(r *request) (to string, err error)
	// shown, if it is set in place of do, returns a page that is shown once, such as that of a new secret.
	shown func(r *request) (view, error)
}

// actionPage asks for a confirmation.
type actionPage struct {
	page
	Action action
	// Problem says why it was not done the last time.
	Problem string
}

// actionRoutes are the page of an action and its form.
func (c *Console) actionRoutes(pattern string, right person.Right, describe func(*request) (action, error)) []platformRoute {
	return []platformRoute{
		{http.MethodGet, pattern, right, c.asking(describe)}, {http.MethodPost, pattern, right, c.acting(describe)},
	}
}

// asking shows the page of an action.
func (c *Console) asking(describe func(*request) (action, error)) func(*request) error {
	return func(r *request) error {
		a, err := describe(r)
		if err != nil {
			return err
		}
		return c.askFor(r, a, http.StatusOK, "")
	}
}

// acting does an action whose form was sent.
func (c *Console) acting(describe func(*request) (action, error)) func(*request) error {
	return func(r *request) error {
		a, err := describe(r)
		if err != nil {
			return err
		}
		return c.act(r, a)
	}
}

func (c *Console) askFor(r *request, a action, status int, problem string) error {
	r.drain()
	data := actionPage{page: c.page(r, a.Title, a.Section), Action: a, Problem: problem}
	if a.NeedsCode {
		if err := c.askToConfirm(r, &data.page); err != nil {
			return err
		}
	}
	return c.render(r, status, "action.html", data)
}

// act does what was confirmed. Where that is refused, the page is shown again with the reason and what was entered.
func (c *Console) act(r *request, a action) error {
	for i, f := range a.Fields {
		if f.Kind == "password" { // which no page shows again
			continue
		}
		if a.Fields[i].Value = r.PostFormValue(f.Name); f.Kind == "checkbox" && a.Fields[i].Value != "" {
			a.Fields[i].Value = "yes"
		}
	}
	if a.NeedsCode {
		if err := c.confirm(r, "code"); err != nil {
			return c.refused(r, a, err)
		}
	}
	if a.Record.Kind != "" && !a.RecordsItself {
		recorded, err := c.People.RecordAction(r.Context(), r.in.Person, a.Record)
		if err != nil {
			return err
		}
		a.Record = recorded
	}
	if a.shown != nil {
		v, err := a.shown(r)
		if err != nil {
			return c.notDone(r, a, err)
		}
		return c.show(r, v)
	}
	to, err := a.do(r)
	if err != nil {
		return c.notDone(r, a, err)
	}
	if to == "" {
		to = a.Back
	}
	return redirect(r, to)
}

// notDone records that an action was refused, and shows it with the reason. Whether one that has failed otherwise was done is not known.
func (c *Console) notDone(r *request, a action, err error) error {
	if f, ok := fault.As(err); ok && f.Code.Status() < http.StatusInternalServerError && a.Record.Kind != "" {
		if err := c.People.RecordRefused(r.Context(), r.in.Person, a.Record, string(f.Code)+": "+f.Message); err != nil {
			return err
		}
	}
	return c.refused(r, a, err)
}

// refused shows an action with the reason for which it was not done.
func (c *Console) refused(r *request, a action, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Code.Status() >= http.StatusInternalServerError || f.Code.Status() == http.StatusNotFound {
		return err
	}
	return c.askFor(r, a, f.Code.Status(), problemText(f))
}

// problemText says what is wrong, with each field.
func problemText(f *fault.Error) string {
	text := f.Message
	if text == fault.Invalid(f.Fields...).Message { // which names the fields only
		text = ""
	}
	for _, bad := range f.Fields {
		text += " " + bad.Field + " " + strings.TrimSuffix(bad.Message, ".") + "."
	}
	return strings.TrimSpace(text)
}

// author returns the person who has signed in as the author of a change on the platform.
func (c *Console) author(r *request) (platform.Author, error) {
	token, err := c.Platforms.TokenOf(r.Context(), r.platform.ID, r.in.Person)
	return platform.Author{Token: token, Actor: r.in.Person.Name, Person: r.in.Person.ID}, err
}

// proposed returns the page of the proposal that a change has made; empty if it was made at once.
func proposed[T any](base string, done proposal.Outcome[T]) string {
	if done.Proposal == nil {
		return ""
	}
	return base + "/proposals/" + done.Proposal.ID.UUID().String()
}

// formText returns a field of the form without the spaces around it.
func formText(r *request, name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

// link returns an action as a button on the page of what it is done to.
func actionLink(title, to string) fact { return fact{Name: title, Link: to} }
