package uma

import (
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	sdk "github.com/uma-universal-money-address/uma-go-sdk/uma/utils"
)

// CertificateChain certifies a public key of a platform.
type CertificateChain struct {
	key []byte // uncompressed
	// from and until are the validity of the first certificate.
	from, until time.Time
	// der are the certificates in hexadecimal, that of the key first.
	der []string
}

// ReadCertificateChain reads a chain of certificates (PEM), of which the first is that of a key. The standard library reads no
// certificates of secp256k1.
func ReadCertificateChain(text []byte) (chain CertificateChain, err error) {
	defer func() {
		if recover() != nil { // the SDK's reader
			err = errors.New("it has no certificates")
		}
	}()
	pem := string(bytes.TrimSpace(text)) + "\n"
	key, err := sdk.ExtractPubkeyFromPemCertificateChain(&pem)
	if err != nil {
		return chain, err
	}
	chain.key = key.SerializeUncompressed()
	if chain.der, err = sdk.ConvertPemCertificateChainToHexEncodedDer(&pem); err != nil {
		return chain, err
	}
	first, err := hex.DecodeString(chain.der[0])
	if err != nil {
		return chain, err
	}
	var certificate struct {
		Signed struct {
			Version   int `asn1:"optional,explicit,default:0,tag:0"`
			Serial    *big.Int
			Algorithm asn1.RawValue
			Issuer    asn1.RawValue
			Validity  struct{ NotBefore, NotAfter time.Time }
		}
	}
	_, err = asn1.Unmarshal(first, &certificate)
	chain.from, chain.until = certificate.Signed.Validity.NotBefore, certificate.Signed.Validity.NotAfter
	return chain, err
}

// chainOf returns the certificates of a public key that are valid at a time; none if there are none.
func (p *Provider) chainOf(key []byte, now time.Time) []string {
	for _, chain := range p.Certificates {
		if bytes.Equal(chain.key, key) && !now.Before(chain.from) && now.Before(chain.until) {
			return chain.der
		}
	}
	return nil
}
