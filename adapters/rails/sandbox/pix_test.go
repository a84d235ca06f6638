package sandbox

import (
	"strings"
	"testing"
)

func TestBRCode_MatchesManualExample(t *testing.T) {
	t.Parallel()
	// brCode reproduces the example of the central bank's manual.
	const want = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000" +
		"5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D"
	if got := brCode("123e4567-e12b-12d1-a456-426655440000", "Fulano de Tal", "BRASILIA", "***"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPixInstructions_CodeContainsReference(t *testing.T) {
	t.Parallel()
	// The code contains the reference, and the holder's name is truncated to fit.
	instruction := pixInstructions("", accountHolder+" FBO João da Silva", "FUND-4T9K2M7PXQ3A")[0]
	code, _ := instruction.Info["qrCode"].(string)
	if !strings.Contains(code, "FUND4T9K2M7PXQ3A") || !strings.Contains(code, "5925") {
		t.Errorf("%v", instruction.Info)
	}
}
