package lightning_test

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"causeway/core/lightning"
)

// specification are the invoices of the test vectors of BOLT 11, bolt11/invoice-test.json.
//
//go:embed testdata/bolt11.json
var specification []byte

func TestParseInvoice_Specification(t *testing.T) {
	t.Parallel()
	// The invoices of the specification are read or refused as it says.
	var vectors []struct {
		Description, Invoice string
		Valid                bool
	}
	if err := json.Unmarshal(specification, &vectors); err != nil || len(vectors) < 25 {
		t.Fatal(len(vectors), err)
	}
	for _, v := range vectors {
		if _, err := lightning.ParseInvoice(v.Invoice); (err == nil) != v.Valid {
			t.Errorf("%s: %v", v.Description, err)
		}
	}
}

const (
	donation = "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctn" +
		"v5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9" +
		"zqt8r2t7mlcwspyetp5h2tztugp9lfyql"
	coffee = "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxx" +
		"atsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"
	hashed = "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan7" +
		"9s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs9qrsgq7ea976txfraylvgzuxs8kgcw23ezlrszfnh8r6qtfpr6cxga50aj6txm9rxrydzd06dfeawfk6swupvz4erwnyut" +
		"njq7x39ymw6j38gp7ynn44"
	pico = "lnbc9678785340p1pwmna7lpp5gc3xfm08u9qy06djf8dfflhugl6p7lgza6dsjxq454gxhj9t7a0sd8dgfkx7cmtwd68yetpd5s9xar0wfjn5gpc8qhrsdfq24f5ggrxdaezqs" +
		"nvda3kkum5wfjkzmfqf3jkgem9wgsyuctwdus9xgrcyqcjcgpzgfskx6eqf9hzqnteypzxz7fzypfhg6trddjhygrcyqezcgpzfysywmm5ypxxjemgw3hxjmn8yptk7untd9hxwg3q2" +
		"d6xjcmtv4ezq7pqxgsxzmnyyqcjqmt0wfjjq6t5v4khxsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsxqyjw5qcqp2rzjq0gxwkzc8w6323m55m4jyxcj" +
		"wmy7stt9hwkwe2qxmy8zpsgg7jcuwz87fcqqeuqqqyqqqqlgqqqqn3qq9q9qrsgqrvgkpnmps664wgkp43l22qsgdw4ve24aca4nymnxddlnp8vh9v2sdxlu5ywdxefsfvm0fq3ses" +
		"f08uf6q9a2ke0hc9j6z6wlxg5z5kqpu2v9wz"
	testnet = "lntb20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygshp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqspp5qqqsyqcy" +
		"q5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqfpp3x9et2e20v6pu37c5d9vax37wxq72un989qrsgqdj545axuxtnfemtpwkc45hx9d2ft7x04mt8q7y6t0k2dge9e7h8k" +
		"py9p34ytyslj3yu569aalz2xdk8xkd7ltxqld94u8h2esmsmacgpghe9k8"
)

func TestParseInvoice_Fields(t *testing.T) {
	t.Parallel()
	// What the specification says that its invoices ask for. They are signed by one node, whose key three of them do not name.
	const payee, hash = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad",
		"0001020304050607080900010203040506070809000102030405060708090102"
	at := time.Unix(1496314658, 0).UTC()
	for text, want := range map[string]lightning.Invoice{
		donation: {Network: lightning.Main, Description: "Please consider supporting this project", At: at, ExpiresAt: at.Add(time.Hour)},
		coffee:   {Network: lightning.Main, MilliSatoshis: 250_000_000, Description: "1 cup coffee", At: at, ExpiresAt: at.Add(time.Minute)},
		hashed:   {Network: lightning.Main, MilliSatoshis: 2_000_000_000, At: at, ExpiresAt: at.Add(time.Hour)},
		strings.ToUpper(coffee): {Network: lightning.Main, MilliSatoshis: 250_000_000, Description: "1 cup coffee", At: at,
			ExpiresAt: at.Add(time.Minute)},
		pico: {Network: lightning.Main, MilliSatoshis: 967_878_534, At: time.Unix(1572468703, 0).UTC(), Description: "Blockstream Store: " +
			`88.85 USD for Blockstream Ledger Nano S x 1, "Back In My Day" Sticker x 2, "I Got Lightning Working" Sticker x 2 and 1 more items`,
			ExpiresAt: time.Unix(1572468703, 0).UTC().Add(7 * 24 * time.Hour)},
		testnet: {Network: lightning.Test, MilliSatoshis: 2_000_000_000, At: at, ExpiresAt: at.Add(time.Hour)},
	} {
		got, err := lightning.ParseInvoice(text)
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		wantHash := hash
		if text == pico {
			wantHash = "462264ede7e14047e9b249da94fefc47f41f7d02ee9b091815a5506bc8abf75f"
		}
		if hex.EncodeToString(got.Payee[:]) != payee || hex.EncodeToString(got.PaymentHash[:]) != wantHash {
			t.Errorf("%.40s: to %x for %x", text, got.Payee, got.PaymentHash)
		}
		if (got.DescriptionHash != nil) != (text == hashed || text == testnet) {
			t.Errorf("%.40s: hash of a description %x", text, got.DescriptionHash)
		} else if got.DescriptionHash != nil &&
			hex.EncodeToString(got.DescriptionHash[:]) != "3925b6f67e2c340036ed12093dd44e0368df1b6ea26c53dbe4811f58fd5db8c1" {
			t.Errorf("%.40s: hash of a description %x", text, *got.DescriptionHash)
		}
		got.Payee, got.PaymentHash, got.DescriptionHash = [33]byte{}, [32]byte{}, nil
		if got != want {
			t.Errorf("%.40s: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseInvoice_Refused(t *testing.T) {
	t.Parallel()
	// A text that is no invoice, or one with a letter changed, is refused with what is wrong.
	for text, want := range map[string]string{
		"":                           "no Lightning invoice",
		"lnbc1":                      "no Lightning invoice",
		coffee[:len(coffee)-1] + "q": "wrong letter",
		strings.Replace(coffee, "2500u", "2600u", 1): "wrong letter",
		"L" + coffee[1:]: "upper and lower case",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "too short",
		strings.Repeat("l", lightning.MaxInvoice+1):  "longer",
	} {
		if _, err := lightning.ParseInvoice(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseInvoice(f *testing.F) {
	for _, text := range []string{donation, coffee, hashed, pico, testnet, strings.ToUpper(coffee), "", "lnbc1"} {
		f.Add(text)
	}
	// No text makes the reader fail otherwise than with an error, and what is read is within its bounds.
	f.Fuzz(func(t *testing.T, text string) {
		i, err := lightning.ParseInvoice(text)
		if err != nil {
			return
		}
		if i.MilliSatoshis < 0 || i.ExpiresAt.Before(i.At) || i.Payee == [33]byte{} || i.Network == "" {
			t.Errorf("%q: %+v", text, i)
		}
	})
}
