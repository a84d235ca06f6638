package platform_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
)

func TestAuthor_String(t *testing.T) {
	t.Parallel()
	// An author is named by the person and the token, as far as they are known.
	var token ident.Token
	token.SetUUID(uuid.UUID{1})
	const id = "Token:01000000-0000-0000-0000-000000000000"
	for want, author := range map[string]platform.Author{
		"operator ana":     {Actor: "ana"},
		"operator":         {},
		"service":          platform.Service,
		id:                 {Token: token},
		"Ana (" + id + ")": {Token: token, Actor: "Ana"},
	} {
		if got := author.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
