package market

import "causeway/core/money"

var millionth = money.MustRate("0.000001")

// pegged currencies have a constant price.
var pegged = map[money.Currency]bool{"USD": true, "USDC": true, "USDT": true, "USDB": true}

// referencePrices are US dollar prices of one unit, around which each price moves. They are
// invented, not taken from a market.
var referencePrices = map[money.Currency]money.Rate{
	"USD": money.MustRate("1"), "USDC": money.MustRate("1"), "USDT": money.MustRate("1"), "USDB": money.MustRate("1"),
	"BTC": money.MustRate("100000"), "ETH": money.MustRate("3000"), "POL": money.MustRate("0.20"),
	"EUR": money.MustRate("1.10"), "GBP": money.MustRate("1.30"), "CHF": money.MustRate("1.15"),
	"DKK": money.MustRate("0.147"), "SEK": money.MustRate("0.098"), "NOK": money.MustRate("0.094"),
	"ISK": money.MustRate("0.0073"), "PLN": money.MustRate("0.26"), "CZK": money.MustRate("0.044"),
	"HUF": money.MustRate("0.0028"), "RON": money.MustRate("0.22"), "BGN": money.MustRate("0.56"),
	"TRY": money.MustRate("0.025"), "ILS": money.MustRate("0.27"), "JPY": money.MustRate("0.0067"),
	"AUD": money.MustRate("0.65"), "NZD": money.MustRate("0.60"), "CAD": money.MustRate("0.73"),
	"HKD": money.MustRate("0.128"), "CNY": money.MustRate("0.14"), "KRW": money.MustRate("0.00073"),
	"SGD": money.MustRate("0.75"), "INR": money.MustRate("0.0118"), "IDR": money.MustRate("0.000061"),
	"MYR": money.MustRate("0.23"), "PHP": money.MustRate("0.0175"), "THB": money.MustRate("0.029"),
	"VND": money.MustRate("0.000039"), "PKR": money.MustRate("0.0036"), "BDT": money.MustRate("0.0083"),
	"BRL": money.MustRate("0.18"), "MXN": money.MustRate("0.054"), "COP": money.MustRate("0.00024"),
	"ARS": money.MustRate("0.00075"), "GTQ": money.MustRate("0.13"), "JMD": money.MustRate("0.0063"),
	"HTG": money.MustRate("0.0076"), "AED": money.MustRate("0.2723"), "EGP": money.MustRate("0.020"),
	"NGN": money.MustRate("0.00065"), "KES": money.MustRate("0.0077"), "TZS": money.MustRate("0.00038"),
	"UGX": money.MustRate("0.00027"), "RWF": money.MustRate("0.00070"), "ZMW": money.MustRate("0.042"),
	"MWK": money.MustRate("0.00058"), "BWP": money.MustRate("0.073"), "GHS": money.MustRate("0.084"),
	"ZAR": money.MustRate("0.056"), "XOF": money.MustRate("0.00168"), "XAF": money.MustRate("0.00168"),
	"SAR": money.MustRate("0.2666"), "QAR": money.MustRate("0.2747"), "BHD": money.MustRate("2.65"),
	"OMR": money.MustRate("2.60"), "JOD": money.MustRate("1.41"), "KWD": money.MustRate("3.25"),
	"TND": money.MustRate("0.34"), "MAD": money.MustRate("0.108"), "LKR": money.MustRate("0.0033"),
	"NPR": money.MustRate("0.0074"), "TWD": money.MustRate("0.032"), "CLP": money.MustRate("0.00105"),
	"PEN": money.MustRate("0.28"), "PYG": money.MustRate("0.00014"), "UYU": money.MustRate("0.025"),
}
