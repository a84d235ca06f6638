package uma

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"causeway/core/uma"
)

// certified is the public key of the first certificate of testdata/chain.pem.
const certified = "0455867a5f2083e1d74c3be3913dbb43f7c101f077ab112d496dced1c0a18165deb6000eb114cb81501c98488ab19289541c03b2dd41316b1cbcf3894ecd80fb8f"

func TestReadCertificateChain(t *testing.T) {
	t.Parallel()
	// A chain is published with its key while its certificate is valid, and the other side reads the key from it. What is no chain of
	// secp256k1 is refused.
	text, err := os.ReadFile("testdata/chain.pem")
	if err != nil {
		t.Fatal(err)
	}
	chain, err := ReadCertificateChain(append(text, "\n\n"...))
	if err != nil || hex.EncodeToString(chain.key) != certified || len(chain.der) != 2 {
		t.Fatalf("%+v, %v", chain, err)
	}
	p := &Provider{Config{Certificates: []CertificateChain{chain}}}
	now := chain.from.Add(time.Hour)
	if got := p.chainOf(chain.key, now); !slices.Equal(got, chain.der) {
		t.Errorf("the chain: %v", got)
	}
	if p.chainOf(chain.key, chain.from.Add(-time.Second)) != nil || p.chainOf(chain.key, chain.until) != nil ||
		p.chainOf([]byte{4}, now) != nil {
		t.Error("it is published when it is not valid, or for another key")
	}
	published, _ := json.Marshal(map[string]any{"signingCertChain": chain.der, "encryptionCertChain": chain.der})
	read, err := parsePublicKeys(published, "pay.test", now)
	if err != nil || !slices.Equal(read.Signing, chain.key) || !slices.Equal(read.Encryption, chain.key) {
		t.Errorf("read %+v, %v", read, err)
	}
	almost := chain.until.Add(-10 * time.Minute)
	if read, err = parsePublicKeys(published, "pay.test", almost); err != nil || !read.Until.Equal(chain.until) {
		t.Errorf("shortly before it expires: kept until %s, %v", read.Until, err)
	}
	for _, at := range []time.Time{chain.until, chain.from.Add(-time.Second)} {
		_, err := parsePublicKeys(published, "pay.test", at)
		if refused, is := errors.AsType[*uma.Refusal](err); !is || refused.Reason != uma.CertChainExpired {
			t.Errorf("at %s: %v", at, err)
		}
	}
	for _, bad := range []string{"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", string(text) + "x"} {
		if _, err := ReadCertificateChain([]byte(bad)); err == nil {
			t.Errorf("%.40q is read", bad)
		}
	}
}
