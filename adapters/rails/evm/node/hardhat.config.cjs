// The contracts are compiled by compile.cjs; hardhat is only the node.
module.exports = {
  solidity: "0.8.28",
  networks: { hardhat: { chainId: 31337, initialBaseFeePerGas: 1000000000 } },
};
