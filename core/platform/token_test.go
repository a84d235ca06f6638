package platform_test

import (
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
		ident.SetUUID(&t.ID, uuid.UUID{15: n})
		t.Permissions = permissions
		return t
	}
	boss, deputy, reader := token(1, platform.View, platform.Manage), token(2, platform.Manage), token(3, platform.View)
	for name, c := range map[string]struct {
		tokens []platform.Token
		revoke platform.Token
		want   fault.Code // empty: it may be deleted
	}{
		"one of two that manage":        {[]platform.Token{boss, deputy, reader}, boss, ""},
		"one that does not manage":      {[]platform.Token{boss, reader}, reader, ""},
		"the last one that manages":     {[]platform.Token{boss, reader}, boss, fault.Conflict},
		"the only one":                  {[]platform.Token{deputy}, deputy, fault.Conflict},
		"one that is not there":         {[]platform.Token{boss, reader}, deputy, fault.TokenNotFound},
		"one that cannot be, of nobody": {nil, boss, fault.TokenNotFound},
	} {
		err := platform.CheckRevocable(c.tokens, c.revoke.ID)

		if (c.want == "" && err != nil) || (c.want != "" && !fault.Is(err, c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
