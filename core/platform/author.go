package platform

import (
	"strings"

	"causeway/core/ident"
)

// Author is who made a change: a token, whose request may name the person, or, if the token is zero, an
// operator on the command line.
type Author struct {
	Token ident.Token
	Actor string // empty if not given
	// Person is who acts: whom the token belongs to, or who has signed in; zero for a service, and for an operator who has not.
	Person ident.Person
}

// Name returns who acts as records of actions name it: the name that was given or, without one, the token.
func (a Author) Name() string {
	if a.Actor == "" {
		return a.Token.String()
	}
	return a.Actor
}

// Service is the service itself, which records what a partner has reported. An operator cannot take its name.
var Service = Author{Actor: "(service)"}

// QuotesPartner reports whether notes of the author have words of a partner, which may be personal data: the service has none of its own.
func (a Author) QuotesPartner() bool { return a == Service }

// Customer is a customer who changes its own data. It is one author for all of them, and the record names the customer as its subject.
var Customer = Author{Actor: "(customer)"}

// AgentProgram is the program that is connected with an agent. It is one author for all of them, and the record names the agent.
var AgentProgram = Author{Actor: "(agent)"}

// String returns the author as reports name it, such as "operator ana".
func (a Author) String() string {
	switch {
	case a == Service:
		return "service"
	case a.Token.IsZero():
		return strings.TrimRight("operator "+a.Actor, " ")
	case a.Actor == "":
		return a.Token.String()
	}
	return a.Actor + " (" + a.Token.String() + ")"
}

// Author returns the principal as an author whose name is not given.
func (p Principal) Author() Author { return Author{Token: p.Token, Person: p.Person} }

// Approval is the proposal that a change was made by, and who approved it. It is zero without four eyes.
type Approval struct {
	Proposal ident.Proposal
	By       Author
}

// IsZero reports whether a change was made without four eyes.
func (a Approval) IsZero() bool { return a.Proposal.IsZero() }
