package platform_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/core/fault"
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
