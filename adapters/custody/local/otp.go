package local

import (
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"

	"causeway/core/wallet"
	"causeway/ports"
)

// otpKeyInfo separates the key of one-time codes from whatever else is made of an entropy.
const otpKeyInfo = "causeway wallet one-time codes"

// otpTarget is the content of otpEncryptionTargetBundle.
type otpTarget struct {
	// TargetPublic is the key to encrypt to, uncompressed, in hexadecimal digits.
	TargetPublic string `json:"targetPublic"`
	// OrganizationID is the id of the platform.
	OrganizationID string `json:"organizationId"`
	AccountID      string `json:"accountId"`
}

// otpKey returns the key to which clients of a wallet encrypt one-time codes. It follows from the entropy, so it is stored nowhere.
func otpKey(s *secrets, entropy []byte) (hpke.PrivateKey, error) {
	material, err := hkdf.Key(sha256.New, entropy, nil, otpKeyInfo, keyLength)
	if err != nil {
		return nil, err
	}
	return hpke.DHKEM(ecdh.P256()).DeriveKeyPair(s.add(material))
}

// OTPTarget implements ports.Custody.
func (c *Custody) OTPTarget(ctx context.Context, w ports.WalletID) (string, error) {
	s := c.newSecrets()
	defer s.wipe()
	entropy, public, err := c.entropy(ctx, s, w)
	if err != nil {
		return "", err
	}
	private, _, err := openEntropy(s, w, entropy, public)
	if err != nil {
		return "", err
	}
	target, err := otpKey(s, entropy)
	if err != nil {
		return "", err
	}
	return newEnvelope(private, otpTarget{hex.EncodeToString(target.PublicKey().Bytes()), w.Platform.String(), w.Account.String()})
}

// OpenOTP implements ports.Custody.
func (c *Custody) OpenOTP(ctx context.Context, w ports.WalletID, sealed wallet.SealedOTP) (wallet.OTPAttempt, error) {
	s := c.newSecrets()
	defer s.wipe()
	entropy, _, err := c.entropy(ctx, s, w)
	if err != nil {
		return wallet.OTPAttempt{}, err
	}
	key, err := otpKey(s, entropy)
	if err != nil {
		return wallet.OTPAttempt{}, err
	}
	all := append(append([]byte{}, sealed.Encapsulated...), sealed.Ciphertext...)
	plain, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.AES256GCM(), nil, all)
	if err != nil {
		return wallet.OTPAttempt{}, wallet.UnreadableOTP()
	}
	return wallet.ParseOTPAttempt(s.add(plain))
}
