package rail_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
)

func TestNeedsFourEyes_IfAPlatformThatListsItIsServed(t *testing.T) {
	t.Parallel()
	platform := func(n byte) (id ident.Platform) {
		id.SetUUID(uuid.UUID{15: n})
		return id
	}
	serves := func(ids ...ident.Platform) rail.Connection { return rail.Connection{Platforms: ids} }
	one, two := platform(1), platform(2)
	for name, c := range map[string]struct {
		lists  []ident.Platform
		served []rail.Connection
		want   bool
	}{
		"no platform lists it":           {nil, []rail.Connection{serves()}, false},
		"all platforms are served":       {[]ident.Platform{one}, []rail.Connection{serves()}, true},
		"it is served":                   {[]ident.Platform{one}, []rail.Connection{serves(two, one)}, true},
		"another one is served":          {[]ident.Platform{one}, []rail.Connection{serves(two)}, false},
		"it was served before":           {[]ident.Platform{one}, []rail.Connection{serves(two), serves(one)}, true},
		"all were served before":         {[]ident.Platform{one}, []rail.Connection{serves(two), serves()}, true},
		"one of several that list it is": {[]ident.Platform{one, two}, []rail.Connection{serves(two)}, true},
	} {
		if got := rail.NeedsFourEyes(c.lists, c.served...); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
