package proposal

import (
	"slices"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
)

// People says who acts with which token. The zero value knows nobody.
type People struct {
	// Tokens are all tokens of the platform, and People all who work with the service.
	Tokens []platform.Token
	People []person.Person
	// IsSandbox: no money moves, and so each token and each name of an operator stands for a person where none is known. A platform
	// tries four eyes without inviting anybody.
	IsSandbox bool
}

func (p People) token(id ident.Token) (platform.Token, bool) {
	i := slices.IndexFunc(p.Tokens, func(t platform.Token) bool { return t.ID == id })
	if i < 0 {
		return platform.Token{}, false
	}
	return p.Tokens[i], true
}

// Acting returns the person who acts: whom the token belongs to, or, without a token, who has signed in. There is none behind a
// service, nor behind a name.
func (p People) Acting(by platform.Author) (person.Person, bool) {
	id := by.Person
	if !by.Token.IsZero() {
		token, _ := p.token(by.Token)
		id = token.Person
	}
	i := slices.IndexFunc(p.People, func(q person.Person) bool { return q.ID == id })
	if i < 0 {
		return person.Person{}, false
	}
	return p.People[i], true
}

// Behind returns the person who acts, or who has made the token of the service that acts; zero if none is known.
func (p People) Behind(by platform.Author) ident.Person {
	if acting, ok := p.Acting(by); ok {
		return acting.ID
	}
	token, _ := p.token(by.Token)
	return token.Behind()
}
