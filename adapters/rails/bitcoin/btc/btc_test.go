package btc_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/adapters/rails/bitcoin/btc"
)

func network(t testing.TB, name string) btc.Network {
	t.Helper()
	n, err := btc.NetworkNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestParseAmount(t *testing.T) {
	t.Parallel()
	// Amounts are exact to the satoshi, in each form that JSON allows; what is finer or impossible is refused.
	for text, want := range map[string]int64{
		"0": 0, "1": 100_000_000, "0.00000001": 1, "1e-8": 1, "1E-08": 1, "-0.5": -50_000_000, "20999999.97690000": 2099999997690000,
		"1.2e-4": 12_000, "0.000000010": 1, "0.1e1": 100_000_000, "21000000": btc.MaxSatoshis, "-0.00000141": -141, "0.00": 0,
	} {
		if got, err := btc.ParseAmount(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "-", "1e", "1e-9", "0.000000001", "21000000.00000001", "1e20", "1e-99999999", "NaN", "0x1", "1,5",
		"1_0", "9223372036854775808", strings.Repeat("9", 60)} {
		if got, err := btc.ParseAmount(text); err == nil {
			t.Errorf("%q was taken for %d", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(-btc.MaxSatoshis, btc.MaxSatoshis).Draw(t, "amount")
		if got, err := btc.ParseAmount(btc.FormatAmount(amount)); err != nil || got != amount {
			t.Fatalf("%d, %v, want %d", got, err, amount)
		}
	})
}

func TestFeeRate(t *testing.T) {
	t.Parallel()
	// A rate has up to three decimals; fees are rounded up.
	rate, err := btc.ParseFeeRate("12.5")
	if err != nil || rate != 12_500 || rate.String() != "12.500" || rate.Fee(141) != 1763 || btc.RateOf(1763, 141) != 12_503 {
		t.Errorf("%d (%s), %v: a fee of %d", rate, rate, err, rate.Fee(141))
	}
	for _, text := range []string{"", "-1", "1.2345", "1e3", ".5", "10000000"} {
		if got, err := btc.ParseFeeRate(text); err == nil {
			t.Errorf("%q was taken for %s", text, got)
		}
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	// The vectors of BIP 173 and BIP 350, and addresses in base58, on their network only.
	for _, test := range []struct{ network, address, script string }{
		{"main", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"},
		{"test", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
			"00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"},
		{"main", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
			"512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"},
		{"main", "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
			"5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6"},
		{"main", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac"},
		{"main", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG", "a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87"},
	} {
		if got, err := network(t, test.network).Script(test.address); err != nil || hex.EncodeToString(got) != test.script {
			t.Errorf("%s: %x, %v", test.address, got, err)
		}
		if got, err := network(t, "regtest").Script(test.address); err == nil {
			t.Errorf("%s was taken for one of regtest: %x", test.address, got)
		}
	}
	for _, address := range []string{
		"", "bc1", "bc1q", "BC1Qw508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", // the checksum of BIP 173 on version 1
		"bc1pw5dgrnzv", "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du",
		"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
		"xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8",
	} {
		if got, err := network(t, "main").Script(address); err == nil {
			t.Errorf("%q was taken for an address: %x", address, got)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
	f.Add("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")
	n := network(f, "main")
	f.Fuzz(func(t *testing.T, address string) {
		if script, err := n.Script(address); err == nil && (len(script) < 4 || len(script) > 42) {
			t.Errorf("%q: %x", address, script)
		}
	})
}

const (
	private = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	public  = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	child   = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"
)

func TestExtendedKey_Vector(t *testing.T) {
	t.Parallel()
	// The second test vector of BIP 32: the public key has the same child as the private one, and so the same addresses.
	n := network(t, "main")
	parse := func(text string) btc.ExtendedKey {
		k, err := n.ParseExtendedKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	secret, open, want := parse(private), parse(public), parse(child)
	one, err := secret.Child(0)
	if err != nil || !one.SamePublic(want) || !one.IsPrivate() {
		t.Errorf("the private key has another child, %v", err)
	}
	two, err := open.Child(0)
	if err != nil || !two.SamePublic(want) || two.IsPrivate() || two.Address() != one.Address() {
		t.Errorf("the public key has another child, %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(rapid.Uint32Max(1<<31-1), 1, 4).Draw(t, "path")
		a, errA := secret.Path(path)
		b, errB := open.Path(path)
		if errA != nil || errB != nil || !a.SamePublic(b) || a.Address() != b.Address() {
			t.Fatalf("%v: %v, %v", path, errA, errB)
		}
	})
	if _, err := open.Child(1 << 31); err == nil {
		t.Error("a hardened child of a public key was derived")
	}
	for _, bad := range []string{"", public[:100], strings.Replace(public, "W3", "3W", 1), "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"} {
		if _, err := n.ParseExtendedKey(bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := network(t, "regtest").ParseExtendedKey(private); err == nil || strings.Contains(err.Error(), private[:20]) {
		t.Errorf("a key of another network: %v", err)
	}
}

func TestWitnessAddress_VectorOfBIP84(t *testing.T) {
	t.Parallel()
	// The first receiving address of the vector of BIP 84.
	key, _ := hex.DecodeString("0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c")
	if got := network(t, "main").WitnessAddress(key); got != "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" {
		t.Errorf("got %s", got)
	}
}

func TestDescriptor(t *testing.T) {
	t.Parallel()
	// The checksum is that of BIP 380, and a private descriptor has the key in the import format of wallets.
	if got := btc.WithChecksum("raw(deadbeef)"); got != "raw(deadbeef)#89f8spxm" {
		t.Errorf("got %s", got)
	}
	k, err := network(t, "main").ParseExtendedKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := k.PrivateDescriptor(); err != nil || !strings.HasPrefix(d, "wpkh(K") && !strings.HasPrefix(d, "wpkh(L") ||
		len(d) != 6+52+1+8 {
		t.Errorf("got a descriptor of %d letters", len(d))
	}
}

const (
	genesis = "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"
	segWit  = "01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b9d1dc26ba6a9cb62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecbab4cc618ef3ed01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac000247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000"
)

func parseHex(t testing.TB, text string) (btc.Transaction, error) {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return btc.ParseTransaction(raw)
}

func TestParseTransaction(t *testing.T) {
	t.Parallel()
	// The first transaction of the chain, and the signed one of BIP 143. The witness is not part of the id.
	first, err := parseHex(t, genesis)
	if err != nil || first.TxID != "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b" || first.VirtualBytes != 204 ||
		len(first.Outputs) != 1 || first.Outputs[0].Satoshis != 50_0000_0000 || first.Inputs[0].Replaceable {
		t.Errorf("%+v, %v", first, err)
	}
	second, err := parseHex(t, segWit)
	if err != nil || len(second.Inputs) != 2 || !second.Inputs[0].Signed || !second.Inputs[1].Signed || !second.Inputs[0].Replaceable ||
		second.Inputs[1].Replaceable ||
		second.Inputs[1].TxID != "8ac60eb9575db5b2d987e29f301b5b819ea83a5c6579d282d189cc04b8e151ef" || second.Inputs[1].Vout != 1 ||
		second.Outputs[1].Satoshis != 223_450_000 || second.VirtualBytes != 261 {
		t.Errorf("%+v, %v", second, err)
	}
	want, _ := network(t, "main").Script("1Cu32FVupVCgHkMMRJdYJugxwo2Aprgk7H")
	if !slices.Equal(second.Outputs[0].Script, want) {
		t.Errorf("the first output pays to %x, want %x", second.Outputs[0].Script, want)
	}
	for length := range len(segWit) / 2 {
		if got, err := parseHex(t, segWit[:2*length]); err == nil {
			t.Fatalf("the first %d bytes were taken for a transaction: %+v", length, got)
		}
	}
	if got, err := parseHex(t, segWit+"00"); err == nil {
		t.Errorf("taken with a byte more: %+v", got)
	}
}

func FuzzParseTransaction(f *testing.F) {
	for _, text := range []string{genesis, segWit} {
		raw, _ := hex.DecodeString(text)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if parsed, err := btc.ParseTransaction(raw); err == nil && (len(parsed.TxID) != 64 || parsed.VirtualBytes < 60 ||
			parsed.VirtualBytes > int64(len(raw))) {
			t.Errorf("%+v", parsed)
		}
	})
}
