package sandbox

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// The accounts of a fictitious bank. The routing number and the IBAN have valid check digits, for
// clients that verify them.
const (
	bankName      = "Causeway Sandbox Bank"
	accountHolder = "Causeway Client Money"
)

var bankAccounts = map[money.Currency]map[string]any{
	"USD": {"accountType": "US_ACCOUNT", "accountNumber": "4210000017", "routingNumber": "021000021",
		"bankAddress":  "1 Sandbox Street, New York, NY 10001, US",
		"paymentRails": []string{"RTP", "FEDNOW", "WIRE", "ACH"}},
	"EUR": {"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013000", "swiftCode": "COBADEFFXXX",
		"paymentRails": []string{"SEPA_INSTANT", "SEPA"}},
	"GBP": {"accountType": "GBP_ACCOUNT", "sortCode": "040004", "accountNumber": "42100017",
		"paymentRails": []string{"FASTER_PAYMENTS"}},
	"MXN": {"accountType": "MXN_ACCOUNT", "clabeNumber": "002010077777777771",
		"paymentRails": []string{"SPEI"}},
}

// swiftAccounts are the same accounts for payers abroad. Their money takes days, so quotes do not offer them.
var swiftAccounts = map[money.Currency]map[string]any{
	"USD": {"accountType": "SWIFT_ACCOUNT", "country": "US", "swiftCode": "CAUSUS33XXX", "accountNumber": "4210000017",
		"bankAddress": "1 Sandbox Street, New York, NY 10001, US", "paymentRails": []string{"SWIFT"}},
	"EUR": {"accountType": "SWIFT_ACCOUNT", "country": "DE", "swiftCode": "COBADEFFXXX", "iban": "DE89370400440532013000",
		"bankAddress": "Kaiserstrasse 1, 60311 Frankfurt, DE", "paymentRails": []string{"SWIFT"}},
}

var walletTypes = map[corridor.Rail]string{
	corridor.Layer2: "LAYER2_WALLET", corridor.Altchain: "ALTCHAIN_WALLET", corridor.Base: "BASE_WALLET",
	corridor.Polygon: "POLYGON_WALLET", corridor.Ethereum: "ETHEREUM_WALLET", corridor.Tron: "TRON_WALLET",
	corridor.Plasma: "PLASMA_WALLET", corridor.Bitcoin: "BITCOIN_L1",
}

// Instructions returns how to pay a quote: a bank account with the reference as memo or, for
// crypto, one new address per chain.
func (r *Rail) Instructions(_ ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error) {
	if currency.IsCrypto() {
		notes := fmt.Sprintf("Send exactly the quoted amount of %s to this address before the quote expires.", currency)
		return cryptoInstructions(reference, currency, network, notes), nil
	}
	if currency == "BRL" {
		return pixInstructions("Scan the code, or copy it into your bank's app, and send the exact amount before the quote expires.",
			accountHolder, reference), nil
	}
	bankAccount, ok := bankAccounts[currency]
	if !ok {
		return nil, fault.New(fault.InvalidCurrency, "%s does not support just-in-time funding; pay in USD, EUR, GBP, MXN, BRL or crypto.",
			currency)
	}
	return []account.Instruction{{
		Notes: fmt.Sprintf("Enter exactly %s as the payment memo, and send the exact amount before the quote expires.", reference),
		Info:  bankInfo(bankAccount, accountHolder, reference),
	}}, nil
}

// Funding returns how to pay into an internal account: a bank account in the owner's name with
// the account's reference as memo or, for crypto, one permanent address per chain. It returns
// none for other currencies.
func (r *Rail) Funding(_ ident.Platform, owner string, reference string, currency money.Currency) ([]account.Instruction, error) {
	if currency.IsCrypto() {
		notes := fmt.Sprintf("Send any amount of %s to this address at any time.", currency)
		return cryptoInstructions(reference, currency, "", notes), nil
	}
	if currency == "BRL" {
		return pixInstructions("Scan the code, or copy it into your bank's app, and send any amount at any time.", accountHolder+" FBO "+owner,
			reference), nil
	}
	bankAccount, ok := bankAccounts[currency]
	if !ok {
		return nil, nil
	}
	notes := fmt.Sprintf("Send any amount at any time, with exactly %s as the payment memo.", reference)
	instructions := []account.Instruction{{Notes: notes, Info: bankInfo(bankAccount, accountHolder+" FBO "+owner, reference)}}
	if abroad, ok := swiftAccounts[currency]; ok {
		instructions = append(instructions, account.Instruction{Notes: "From a bank abroad: " + notes,
			Info: bankInfo(abroad, accountHolder+" FBO "+owner, reference)})
	}
	return instructions, nil
}

func bankInfo(bankAccount map[string]any, holder, reference string) map[string]any {
	info := map[string]any{"accountHolderName": holder, "bankName": bankName, "reference": reference}
	for name, value := range bankAccount {
		info[name] = value
	}
	return info
}

func cryptoInstructions(reference string, currency money.Currency, network, notes string) []account.Instruction {
	var instructions []account.Instruction
	for _, chain := range corridor.Chains(currency) {
		kind, ok := walletTypes[chain]
		if !ok || network != "" && network != string(chain) {
			continue
		}
		instructions = append(instructions, account.Instruction{
			Notes: notes,
			Info:  map[string]any{"accountType": kind, "assetType": string(currency), "address": depositAddress(chain, reference)},
		})
	}
	return instructions
}

// depositAddress returns an address in the format of the chain. It depends on its arguments
// alone.
func depositAddress(chain corridor.Rail, reference string) string {
	sum := sha256.Sum256([]byte("causeway sandbox address/" + string(chain) + "/" + reference))
	switch chain {
	case corridor.Layer2:
		return "spark1" + hex.EncodeToString(sum[:20])
	case corridor.Altchain:
		return base58(sum[:])
	case corridor.Tron:
		return base58(withChecksum(0x41, sum[:20]))
	case corridor.Bitcoin:
		return base58(withChecksum(0x6f, sum[:20])) // of the test network
	default:
		return "0x" + hex.EncodeToString(sum[:20])
	}
}

// TransactionHash returns the hash of a simulated transfer in the format of its chain, the same for the same id. It is empty for a rail
// that is no chain.
func TransactionHash(id uuid.UUID, on corridor.Rail) string {
	sum := sha512.Sum512([]byte("causeway sandbox transaction/" + string(on) + "/" + id.String()))
	switch on.OnChainNetwork() {
	case "":
		return ""
	case "SOLANA":
		return base58(sum[:])
	case "BITCOIN", "TRON", "LAYER2":
		return hex.EncodeToString(sum[:32])
	default:
		return "0x" + hex.EncodeToString(sum[:32])
	}
}

// withChecksum returns the bytes of an address with its first byte and its valid four-byte checksum, for
// clients that verify it.
func withChecksum(version byte, account []byte) []byte {
	bytes := append([]byte{version}, account...)
	once := sha256.Sum256(bytes)
	twice := sha256.Sum256(once[:])
	return append(bytes, twice[:4]...)
}

func base58(data []byte) string {
	const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n, digit, base := new(big.Int).SetBytes(data), new(big.Int), big.NewInt(58)
	var text []byte
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		text = append(text, letters[digit.Int64()])
	}
	slices.Reverse(text)
	return string(text)
}
