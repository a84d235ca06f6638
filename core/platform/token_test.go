package platform_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

func TestCheckRevocable_KeepsLastManageToken(t *testing.T) {
	t.Parallel()
	// A deletion always leaves a token with MANAGE.
	token := func(n byte, permissions ...platform.Permission) platform.Token {
		var t platform.Token
		t.ID.SetUUID(uuid.UUID{15: n})
		t.Permissions = permissions
		return t
	}
	manager, otherManager, reader := token(1, platform.View, platform.Manage), token(2, platform.Manage), token(3, platform.View)
	for name, c := range map[string]struct {
		tokens []platform.Token
		revoke platform.Token
		want   fault.Code // empty: it may be deleted
	}{
		"one of two with MANAGE":   {[]platform.Token{manager, otherManager, reader}, manager, ""},
		"one without MANAGE":       {[]platform.Token{manager, reader}, reader, ""},
		"the last one with MANAGE": {[]platform.Token{manager, reader}, manager, fault.Conflict},
		"the only one":             {[]platform.Token{otherManager}, otherManager, fault.Conflict},
		"one that does not exist":  {[]platform.Token{manager, reader}, otherManager, fault.TokenNotFound},
		"one of no tokens":         {nil, manager, fault.TokenNotFound},
	} {
		err := platform.CheckRevocable(c.tokens, c.revoke.ID)

		if (c.want == "" && err != nil) || (c.want != "" && !fault.Is(err, c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestCheckTokenRoom(t *testing.T) {
	t.Parallel()
	// The token that reaches the maximum is created, and the one after it refused, also where there are more from before.
	const most = platform.MaxTokens
	for current, refused := range map[int]bool{0: false, most - 1: false, most: true, most + 5: true} {
		for _, ofPeople := range []bool{false, true} {
			if err := platform.CheckTokenRoom(current, ofPeople); fault.Is(err, fault.Conflict) != refused || (err != nil) != refused {
				t.Errorf("with %d: %v", current, err)
			}
		}
	}
}

func TestNameTokens_BeforeTheirIDs(t *testing.T) {
	t.Parallel()
	// A token is named with the person whom it belongs to, or as that of a service, before its id. One of which nothing is known, a name
	// that is there already and a text without tokens stay as they are.
	id := func(n byte) (token ident.Token) {
		token.SetUUID([16]byte{15: n})
		return token
	}
	names := map[ident.Token]platform.TokenName{id(1): {Name: "Backend"}, id(2): {Name: "Laptop", Person: "ana@acme.example"},
		id(3): {Name: "ana@acme.example", Person: "ana@acme.example"}}
	for text, want := range map[string]string{
		id(1).String():                              "service Backend, " + id(1).String(),
		"Ana (" + id(2).String() + ")":              "Ana (Laptop of ana@acme.example, " + id(2).String() + ")",
		"ana@acme.example (" + id(3).String() + ")": "ana@acme.example (" + id(3).String() + ")",
		"Ana (" + id(3).String() + "), approved by " + id(1).String(): "Ana (ana@acme.example, " + id(3).String() +
			"), approved by service Backend, " + id(1).String(),
		id(4).String(): id(4).String(), "operator ana": "operator ana", "Token:x": "Token:x",
	} {
		if got := platform.NameTokens(text, names); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		if got := platform.NameTokens(want, names); got != want {
			t.Errorf("%s is named again: %s", want, got)
		}
	}
	if got := platform.TokensIn("by " + id(1).String() + " and " + id(4).String()); !slices.Equal(got, []ident.Token{id(1), id(4)}) {
		t.Errorf("found %v", got)
	}
}
