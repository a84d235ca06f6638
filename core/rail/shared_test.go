package rail_test

import (
	"maps"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/rail"
)

func TestConnection_SharesNoFilesAndNoWallet(t *testing.T) {
	t.Parallel()
	// Two connections never read the same folder of a bank, unless the files stay and the accounts differ, and never
	// have the same wallet.
	bank := map[string]string{"folder": "/srv/bank", "iban": "DE89370400440532013000"}
	server := map[string]string{"sftpAddress": "bank.example:22", "sftpUser": "we", "iban": "DE89370400440532013000"}
	wallet := map[string]string{"url": "http://127.0.0.1:8332", "wallet": "hot"}
	for name, test := range map[string]struct {
		adapter       rail.Adapter
		first, change map[string]string
		field         string
	}{
		"same folder":       {rail.BankFile, bank, map[string]string{"folder": "/srv/bank/", "incoming": "in"}, "settings.incoming"},
		"other account":     {rail.BankFile, bank, map[string]string{"iban": "FR1420041010050500013M02606"}, "settings.incoming"},
		"other folder":      {rail.BankFile, bank, map[string]string{"folder": "/srv/bank-2"}, ""},
		"other incoming":    {rail.BankFile, bank, map[string]string{"incoming": "in-2"}, ""},
		"same server":       {rail.BankFile, server, map[string]string{"sftpFolder": "."}, "settings.incoming"},
		"other user":        {rail.BankFile, server, map[string]string{"sftpUser": "they"}, ""},
		"same wallet":       {rail.Bitcoin, wallet, nil, "settings.wallet"},
		"other wallet":      {rail.Bitcoin, wallet, map[string]string{"wallet": "cold"}, ""},
		"the same sidecar":  {rail.Partner, map[string]string{"url": "https://sidecar.example"}, nil, ""},
		"another's adapter": {rail.EVM, wallet, nil, ""},
	} {
		settings := maps.Clone(test.first)
		maps.Copy(settings, test.change)
		first := rail.Connection{Name: "first", Adapter: test.adapter, Settings: test.first}
		second := rail.Connection{Name: "second", Adapter: test.adapter, Settings: settings}
		err := second.CheckShared([]rail.Connection{first})
		f, refused := fault.As(err)
		if refused != (test.field != "") || refused && (f.Fields[0].Field != test.field || !strings.Contains(f.Fields[0].Message, "first")) {
			t.Errorf("%s: %v, want %q", name, err, test.field)
		}
		if second.Name = "first"; second.CheckShared([]rail.Connection{first}) != nil {
			t.Errorf("%s: a connection is refused beside its own version before", name)
		}
	}
	kept := func(name, iban string) rail.Connection {
		return rail.Connection{Name: name, Adapter: rail.BankFile, Settings: map[string]string{"folder": "/srv/bank", "archive": "none", "iban": iban}}
	}
	if err := kept("second", "FR1420041010050500013M02606").CheckShared([]rail.Connection{kept("first", "DE89370400440532013000")}); err != nil {
		t.Errorf("files that stay: %v", err)
	}
	if kept("second", "DE89370400440532013000").CheckShared([]rail.Connection{kept("first", "DE89370400440532013000")}) == nil {
		t.Error("two connections of one account read the same files")
	}
}
