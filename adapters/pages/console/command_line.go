package console

import (
	"net/http"

	"causeway/core/fault"
	"causeway/core/person"
)

// commandLinePage lets a person approve a sign-in of the command line: first it enters the code, then it sees who asks.
type commandLinePage struct {
	page
	// Code is what the person has entered, and Asked the request that it names; nil before.
	Code  string
	Asked *person.SignInRequest
	// Problem says why nothing was done, and Done what was.
	Problem, Done string
}

func (c *Console) showCommandLine(r *request) error {
	return c.commandLineWith(r, http.StatusOK, commandLinePage{})
}

func (c *Console) commandLineWith(r *request, status int, data commandLinePage) error {
	data.page = c.page(r, "Sign in on the command line", "")
	if err := c.askToConfirm(r, &data.page); err != nil {
		return err
	}
	return c.render(r, status, "command_line.html", data)
}

// decideCommandLine shows the request of the command line with a code, or approves or refuses it.
func (c *Console) decideCommandLine(r *request) error {
	asked, err := c.People.SignInRequest(r.Context(), r.PostFormValue("code"))
	data := commandLinePage{Code: r.PostFormValue("code"), Asked: &asked}
	if err != nil {
		data.Asked = nil
		return c.commandLineRefused(r, data, err)
	}
	data.Code = person.GroupSignInCode(asked.Code)
	switch r.PostFormValue("decision") {
	case "":
		return c.commandLineWith(r, http.StatusOK, data)
	case "approve":
		if err = c.confirm(r, "confirmation"); err == nil {
			err = c.People.ApproveSignIn(r.Context(), r.in, asked.Code)
		}
		data.Done = "You are signed in on the command line of " + asked.From + "."
	case "refuse":
		err = c.People.RefuseSignIn(r.Context(), asked.Code)
		data.Done = "Nobody is signed in on the command line of " + asked.From + "."
	default:
		return errUnreadable
	}
	if err != nil {
		data.Done = ""
		return c.commandLineRefused(r, data, err)
	}
	return c.commandLineWith(r, http.StatusOK, data)
}

func (c *Console) commandLineRefused(r *request, data commandLinePage, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Code.Status() >= http.StatusInternalServerError {
		return err
	}
	data.Problem = f.Message
	return c.commandLineWith(r, f.Code.Status(), data)
}
