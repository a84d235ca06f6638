package sandbox

import (
	"fmt"
	"strings"

	"causeway/core/account"
)

// pixKey is the random PIX key of the sandbox's bank.
const pixKey = "3b1f9c52-5a7e-4d7c-9e35-0c6f2a8d4e11"

// pixInstructions returns how to pay in BRL: a code that contains the reference, which payers scan
// or copy into their bank's app.
func pixInstructions(notes, holder, reference string) []account.Instruction {
	return []account.Instruction{{Notes: notes, Info: map[string]any{
		"accountType": "BRL_ACCOUNT", "accountHolderName": holder, "bankName": bankName, "reference": reference,
		"qrCode": brCode(pixKey, holder, "SAO PAULO", strings.ReplaceAll(reference, "-", "")), "paymentRails": []string{"PIX"},
	}}}
}

// brCode returns the text of a PIX code without an amount (Banco Central do Brasil, Manual do BR
// Code: EMV merchant-presented mode). The label consists of letters and digits.
func brCode(key, name, city, label string) string {
	merchant := emvField("00", "br.gov.bcb.pix") + emvField("01", key)
	code := emvField("00", "01") + emvField("26", merchant) + emvField("52", "0000") + emvField("53", "986") + emvField("58", "BR") +
		emvField("59", truncateASCII(name, 25)) + emvField("60", truncateASCII(city, 15)) +
		emvField("62", emvField("05", truncateASCII(label, 25))) + "6304"
	return code + fmt.Sprintf("%04X", crc16(code))
}

func emvField(tag, value string) string { return fmt.Sprintf("%s%02d%s", tag, len(value), value) }

// truncateASCII returns the first printable ASCII characters of a text, at most maxLength.
func truncateASCII(text string, maxLength int) string {
	var plain strings.Builder
	for _, c := range text {
		if plain.Len() < maxLength && c >= ' ' && c <= '~' {
			plain.WriteRune(c)
		}
	}
	return plain.String()
}

// crc16 returns the checksum of a code: CRC-16/IBM-3740, with polynomial 0x1021 and initial value
// 0xFFFF.
func crc16(text string) uint16 {
	crc := uint16(0xFFFF)
	for i := range len(text) {
		crc ^= uint16(text[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
