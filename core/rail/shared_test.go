package rail_test

import (
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/rail"
)

func TestConnection_SharesNothingThatOnlyOneCanWorkWith(t *testing.T) {
	t.Parallel()
	// Two connections of an adapter never have the same wallet, account or folder, and a folder only in parts that differ. The
	// refusal names the other connection.
	for name, test := range map[string]struct {
		first, second []string
		other         rail.Adapter
		refused       bool
	}{
		"the same wallet":    {[]string{"the wallet A on chain 1"}, []string{"the wallet A on chain 1"}, rail.EVM, true},
		"another chain":      {[]string{"the wallet A on chain 1"}, []string{"the wallet A on chain 10"}, rail.EVM, false},
		"one of several":     {[]string{"the folder in", "the account X"}, []string{"the folder in-2", "the account X"}, rail.EVM, true},
		"nothing":            {nil, nil, rail.EVM, false},
		"another adapter":    {[]string{"A"}, []string{"A"}, rail.Bitcoin, false},
		"the same part":      {[]string{rail.ExclusivePart("in", "X")}, []string{rail.ExclusivePart("in", "X")}, rail.EVM, true},
		"another part":       {[]string{rail.ExclusivePart("in", "X")}, []string{rail.ExclusivePart("in", "Y")}, rail.EVM, false},
		"the whole and part": {[]string{"in"}, []string{rail.ExclusivePart("in", "Y")}, rail.EVM, true},
		"a part and whole":   {[]string{rail.ExclusivePart("in", "Y")}, []string{"in"}, rail.EVM, true},
	} {
		first := rail.Connection{Name: "first", Adapter: test.other, Exclusive: test.first}
		second := rail.Connection{Name: "second", Adapter: rail.EVM, Exclusive: test.second}

		err := second.CheckShared([]rail.Connection{first})

		f, refused := fault.As(err)
		if refused != test.refused || refused && (len(f.Fields) != 1 || !strings.Contains(f.Fields[0].Message, "first has already")) {
			t.Errorf("%s: %v, refused %t", name, err, test.refused)
		}
		if second.Name = "first"; second.CheckShared([]rail.Connection{first}) != nil {
			t.Errorf("%s: a connection is refused beside its own version before", name)
		}
		first.Retired = true
		if second.Name = "second"; (second.CheckShared([]rail.Connection{first}) != nil) != test.refused {
			t.Errorf("%s: retired, it counts no more", name)
		}
	}
}
