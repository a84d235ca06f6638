package wallet

import (
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"causeway/core/fault"
)

// MaxSealedOTP is the longest encryptedOtpBundle, and maxOTP the longest code in it, in characters.
const (
	MaxSealedOTP = 2048
	maxOTP       = 64
)

// SealedOTP is an OTPAttempt, encrypted by HPKE (RFC 9180) to the target of a wallet.
type SealedOTP struct {
	// Encapsulated is the encapsulated key, an uncompressed point on P-256.
	Encapsulated []byte
	Ciphertext   []byte
}

// OTPAttempt is what a client encrypts: a one-time code, and its own key, which becomes that of the session.
type OTPAttempt struct {
	Code string
	Key  ClientKey
}

// ParseSealedOTP parses the JSON object of encryptedOtpBundle: encappedPublic and ciphertext, in hexadecimal digits. Fault:
// INVALID_INPUT.
func ParseSealedOTP(text string) (SealedOTP, error) {
	var members map[string]string
	if len(text) > MaxSealedOTP || json.Unmarshal([]byte(text), &members) != nil || len(members) != 2 {
		return SealedOTP{}, invalidOTP("must be the text of a JSON object with encappedPublic and ciphertext")
	}
	encapsulated, keyErr := hex.DecodeString(members["encappedPublic"])
	ciphertext, textErr := hex.DecodeString(members["ciphertext"])
	if keyErr != nil || textErr != nil || len(encapsulated) != len(ClientKey{}.point) || len(ciphertext) == 0 {
		return SealedOTP{}, invalidOTP("must have encappedPublic, an uncompressed point on P-256, and ciphertext in hexadecimal digits")
	}
	return SealedOTP{encapsulated, ciphertext}, nil
}

// ParseOTPAttempt parses what was decrypted: a JSON object with otp_code and public_key. Fault: INVALID_INPUT.
func ParseOTPAttempt(plain []byte) (OTPAttempt, error) {
	var members map[string]string
	if json.Unmarshal(plain, &members) != nil || len(members) != 2 || members["otp_code"] == "" ||
		utf8.RuneCountInString(members["otp_code"]) > maxOTP {
		return OTPAttempt{}, invalidOTP("must contain a JSON object with otp_code and public_key")
	}
	key, ok := parsePoint(members["public_key"])
	if !ok {
		return OTPAttempt{}, invalidOTP("must contain a public_key: " + ClientKeyRule)
	}
	return OTPAttempt{members["otp_code"], key}, nil
}

// UnreadableOTP returns the fault of a SealedOTP that was encrypted to another target.
func UnreadableOTP() error {
	return invalidOTP("cannot be decrypted; encrypt it to targetPublic of the wallet's otpEncryptionTargetBundle")
}

func invalidOTP(message string) error {
	return fault.Invalid(fault.Field{Field: "encryptedOtpBundle", Message: message})
}
