package local_test

import (
	"testing"

	"causeway/adapters/custody/local"
	"causeway/core/ident"
	"causeway/ports"
	"causeway/ports/portstest"
)

func BenchmarkCustody(b *testing.B) {
	client := portstest.NewWalletClient(b).Public
	env := newEnv(b)
	for name, store := range map[string]ports.WalletKeyStore{"memory": newMemoryStore(), "postgres": env.db} {
		custody := local.New(store)
		w := env.newWallet(b, env.here, ident.NewInternalAccount(generator.New, noon))
		for method, call := range map[string]func() error{
			"WalletKey":     func() error { _, err := custody.WalletKey(b.Context(), w); return err },
			"Sign":          func() error { _, err := custody.Sign(b.Context(), w, "a statement"); return err },
			"NewSessionKey": func() error { _, err := custody.NewSessionKey(b.Context(), client); return err },
			"Export":        func() error { _, err := custody.Export(b.Context(), w, client); return err },
		} {
			b.Run(method+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if err := call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
