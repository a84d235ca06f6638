// Prints the code that an authenticator application shows for SECRET at EPOCH, in seconds.
import { generateSync } from "otplib";

process.stdout.write(generateSync({ secret: process.env.SECRET, epoch: Number(process.env.EPOCH) }));
